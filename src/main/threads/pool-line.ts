/** Thread: main. Main's end of the line to one pool thread: gives tasks and gets answers. */
import type { MessagePort } from 'node:worker_threads'
import { RingReceiver } from '../../lib/ring/ring-receiver.js'
import { RingSender } from '../../lib/ring/ring-sender.js'
import { fromErrorRecord } from '../../protocol/error-record.js'
import {
  ANSWERS_PER_TURN,
  type PoolLineMessage,
  type PoolLineOffer,
  readAnswer,
  TaskWriter,
} from '../../protocol/pool-line.js'
import type { PoolHandover } from '../../protocol/pool-pulse.js'

export interface PoolLineListener {
  answered(place: number, result: unknown): void
  failed(place: number, error: Error): void
}

export class PoolLine {
  readonly #port: MessagePort
  readonly #tasks: TaskWriter
  readonly #answers: RingReceiver
  readonly #listener: PoolLineListener
  #underWay = 0

  constructor({ tasks, answers, port }: PoolLineOffer, listener: PoolLineListener) {
    this.#port = port
    this.#listener = listener
    this.#tasks = new TaskWriter(new RingSender(tasks, () => port.postMessage(null)))
    this.#answers = new RingReceiver({
      memory: answers,
      framesPerTurn: ANSWERS_PER_TURN,
      take: (frame) => {
        const { place, answer } = readAnswer(frame)
        this.#answered(place, answer)
      },
    })
    port.on('message', (message: PoolLineMessage) => {
      if (message === null) this.#answers.wake()
      else if ('error' in message) this.#failed(message.place, fromErrorRecord(message.error))
      else this.#answered(message.place, message.result)
    })
    port.unref()
  }

  /** False when the task has to go another way. */
  give(handover: PoolHandover): boolean {
    if (!this.#tasks.write(handover)) return false
    // The process stays for an answer that is still to come, as it does for those of Piscina.
    if (this.#underWay++ === 0) this.#port.ref()
    return true
  }

  #answered(place: number, result: unknown): void {
    this.#ended()
    this.#listener.answered(place, result)
  }

  #failed(place: number, error: Error): void {
    this.#ended()
    this.#listener.failed(place, error)
  }

  #ended(): void {
    if (--this.#underWay === 0) this.#port.unref()
  }

  /** The thread is gone: what it answered and was not read yet is lost, as its tasks are. */
  close(): void {
    this.#answers.stop()
    this.#port.close()
  }
}
