/** Thread: pool. The thread's end of its line to main: takes tasks and gives answers. */
import { MessageChannel, type Transferable } from 'node:worker_threads'
import { createRing } from '../../lib/ring/ring-layout.js'
import { RingReceiver } from '../../lib/ring/ring-receiver.js'
import { RingSender } from '../../lib/ring/ring-sender.js'
import { toErrorRecord } from '../../protocol/error-record.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import {
  LINE_RING_BYTES,
  type PoolLineMessage,
  type PoolLineOffer,
  TASKS_PER_TURN,
  TaskReader,
  writeAnswer,
} from '../../protocol/pool-line.js'
import type { PoolHandover } from '../../protocol/pool-pulse.js'

/** Makes the line and tells main of it. */
export function openTaskLine(
  tell: (offer: PoolLineOffer, transfer: readonly Transferable[]) => void,
  run: (handover: PoolHandover) => Promise<unknown>,
): void {
  const [tasks, answers] = [createRing(LINE_RING_BYTES), createRing(LINE_RING_BYTES)]
  const { port1, port2 } = new MessageChannel()
  const post = (message: PoolLineMessage): void => port1.postMessage(message)
  const sender = new RingSender(answers, () => post(null))
  const reader = new TaskReader()
  const serve = async (handover: PoolHandover): Promise<void> => {
    const { place } = handover
    try {
      const result = await run(handover)
      // Only tasks that are answered with an EncodedResponse go over the line.
      if (!writeAnswer(sender, place, result as EncodedResponse)) post({ place, result })
    } catch (error) {
      post({ place, error: toErrorRecord(error) })
    }
  }
  const receiver = new RingReceiver({
    memory: tasks,
    framesPerTurn: TASKS_PER_TURN,
    take: (frame) => void serve(reader.read(frame)),
  })
  port1.on('message', () => receiver.wake())
  tell({ type: 'line', tasks, answers, port: port2 }, [port2])
}
