/** Thread: pool. The entry of a pool thread: attaches to the owner, then serves tasks. */
import { MessageChannel, parentPort, type Transferable, threadId, workerData } from 'node:worker_threads'
import { assert } from '../lib/assert.js'
import { systemClock } from '../lib/clock.js'
import { systemThreadId } from '../lib/thread-wait.js'
import { ThreadProbe } from '../metrics/thread-probe.js'
import { threadRecorder } from '../metrics/thread-recorder.js'
import { BEAT_MS, type PoolHandover, PoolPulse } from '../protocol/pool-pulse.js'
import type { OwnerLine, PoolThreadData, PoolThreadMessage } from '../protocol/pool-start.js'
import { StageTimes } from '../protocol/stage-times.js'
import type { PoolWorker } from './pool-worker/pool-worker.js'
import { openTaskLine } from './pool-worker/task-line.js'
import { openPoolWorker } from './pool-worker/worker-assembly.js'
import { ThreadInspector } from './thread-inspector.js'

/** Asks main for a line to the owner, and for one over which main tells of changes. */
async function attach(): Promise<OwnerLine> {
  assert(parentPort !== null, 'a pool thread has a parent')
  const { port1, port2 } = new MessageChannel()
  const answered = new Promise<OwnerLine>((resolve) => port1.once('message', resolve))
  parentPort.postMessage({ type: 'attach', port: port2 } satisfies PoolThreadMessage, [port2])
  const line = await answered
  port1.close()
  return line
}

async function open(start: PoolThreadData): Promise<PoolWorker> {
  const tell = (line: object, transfer: readonly Transferable[]): void => parentPort?.postMessage(line, transfer)
  const recorder = threadRecorder(tell)
  new ThreadInspector(`pool-${threadId}`, systemClock).open(tell)
  new ThreadProbe(`pool-${threadId}`, recorder, systemClock).start()
  return openPoolWorker({ start, line: await attach(), recorder })
}

const start = workerData as PoolThreadData
const pulse = new PoolPulse(start.pulse)
const stageTimes = new StageTimes(start.stageTimes)
const worker = open(start)
// The heart beats from here on: loading takes as long as the machine lets it, and must not count as standing still.
void worker.then(() => {
  openTaskLine((offer, transfer) => parentPort?.postMessage(offer, transfer), run)
  pulse.introduce(systemThreadId())
  pulse.beat()
  setInterval(pulse.beat, BEAT_MS).unref()
})

export default async function run({ place, task }: PoolHandover): Promise<unknown> {
  pulse.begin(place)
  stageTimes.mark(task.slot, 'begun')
  const result = await (await worker).run(task)
  stageTimes.mark(task.slot, 'answered')
  return result
}
