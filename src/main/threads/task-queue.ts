/**
 * Thread: any. Runs a limited number of tasks at once. Others wait in order, up to a limit, and never begin once they
 * are given up.
 */
import { newTooManyRequests } from '../../api/status.js'
import { Deferred } from '../../lib/deferred.js'
import type { Caller } from './caller.js'
import { TaskCancelled } from './task-cancelled.js'

interface Waiting {
  readonly start: () => Promise<unknown>
  readonly caller: Caller | undefined
  readonly result: Deferred<unknown>
}

export interface TaskQueueOptions {
  /** How many tasks may run at once now; it may change from call to call. */
  readonly capacity: () => number
  /** How many tasks may wait; further ones are refused with TooManyRequests. */
  readonly maxWaiting: number
}

export class TaskQueue {
  readonly #options: TaskQueueOptions
  #waiting: Waiting[] = []
  /** The index of the first task that still waits; the places before it have been emptied. */
  #head = 0
  #running = 0

  constructor(options: TaskQueueOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.length - this.#head
  }

  run<T>(start: () => Promise<T>, caller?: Caller): Promise<T> {
    this.look()
    if (this.waiting === 0 && this.#running < this.#options.capacity()) return this.#start(start)
    if (this.waiting >= this.#options.maxWaiting)
      return Promise.reject(newTooManyRequests('too many requests, please try again later', 1))
    const result = new Deferred<unknown>()
    this.#waiting.push({ start, caller, result })
    return result.promise as Promise<T>
  }

  /** Begins the tasks that there is room for; to be called when the capacity may have grown. */
  look(): void {
    if (this.waiting > 0) this.#next()
  }

  async #start<T>(start: () => Promise<T>): Promise<T> {
    this.#running++
    try {
      return await start()
    } finally {
      this.#running--
      this.#next()
    }
  }

  #next(): void {
    while (this.waiting > 0 && this.#running < this.#options.capacity()) {
      const { start, caller, result } = this.#waiting[this.#head++]!
      if (caller?.gone === true) result.reject(new TaskCancelled())
      else result.resolve(this.#start(start))
    }
    if (this.#head <= this.#waiting.length / 2) return
    this.#waiting = this.#waiting.slice(this.#head)
    this.#head = 0
  }
}
