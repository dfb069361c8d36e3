/** Thread: main. The worker pool: one crossing each way, bytes transferred, a bounded queue. */
import { cpus } from 'node:os'
import type { MessagePort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { newTooManyRequests } from '../api/status.js'
import { Deferred } from '../lib/deferred.js'
import type { Closable } from '../lib/lifecycle.js'
import type { PoolResult, PoolTask, PoolTaskName, PoolTasks } from '../protocol/main-pool.js'
import type { OwnerLine, PoolStart, PoolThreadMessage } from '../protocol/pool-start.js'

/** Tasks wait on storage most of their time, so a thread has many under way. */
const TASKS_PER_THREAD = 128
/** Requests that wait for a thread; beyond it they are told to come again. */
const MAX_QUEUE = 4096

export interface PoolOptions {
  readonly threads: number
  readonly start: PoolStart
  /** Each thread asks for a line to the owner when it starts. */
  readonly attach: () => Promise<MessagePort>
  readonly onWorkerError: (error: unknown) => void
}

/** One thread for the front end, one for the owner; the pool gets the rest, and never less than one. */
export const defaultPoolThreads = (): number => Math.max(1, Math.min(8, cpus().length - 1))

/** Who wants something of the pool needs no more of it. */
export interface PoolRunner {
  /** `signal`: what has not begun when it aborts never does. */
  run<K extends PoolTaskName>(type: K, input: Parameters<PoolTasks[K]>[0], signal?: AbortSignal): Promise<PoolResult<K>>
}

/** Nobody waits for it any longer. */
export class TaskCancelled extends Error {
  override readonly name = 'TaskCancelled'
}

interface QueuedTask {
  readonly task: PoolTask
  readonly signal: AbortSignal | undefined
  readonly result: Deferred<unknown>
}

/**
 * Tasks wait here, not in Piscina: there, a signal that aborts a task under way ends its thread, and all the others that
 * are under way in it.
 */
export class Pool implements Closable, PoolRunner {
  readonly #piscina: Piscina
  readonly #capacity: number
  #queue: QueuedTask[] = []
  /** Of the queue, those before this are gone. */
  #queueHead = 0
  #running = 0

  constructor(options: PoolOptions) {
    this.#capacity = options.threads * TASKS_PER_THREAD
    this.#piscina = new Piscina({
      filename: new URL('../workers/pool-thread.js', import.meta.url).href,
      minThreads: options.threads,
      maxThreads: options.threads,
      concurrentTasksPerWorker: TASKS_PER_THREAD,
      maxQueue: MAX_QUEUE,
      // Waiting by Atomics would block a thread that has storage calls under way.
      atomics: 'disabled',
      workerData: options.start,
    })
    this.#piscina.on('message', (message: PoolThreadMessage) => {
      options
        .attach()
        .then((port) => message.port.postMessage({ port } satisfies OwnerLine, [port]), options.onWorkerError)
    })
    this.#piscina.on('error', options.onWorkerError)
  }

  get queueSize(): number {
    return this.#queue.length - this.#queueHead
  }

  run<K extends PoolTaskName>(
    type: K,
    input: Parameters<PoolTasks[K]>[0],
    signal?: AbortSignal,
  ): Promise<PoolResult<K>> {
    const task = { type, input } as PoolTask
    if (this.#running < this.#capacity) return this.#start(task) as Promise<PoolResult<K>>
    if (this.queueSize >= MAX_QUEUE)
      return Promise.reject(newTooManyRequests('too many requests, please try again later', 1))
    const result = new Deferred<unknown>()
    this.#queue.push({ task, signal, result })
    return result.promise as Promise<PoolResult<K>>
  }

  async #start(task: PoolTask): Promise<unknown> {
    this.#running++
    try {
      return await this.#piscina.run(task, { transferList: transferable(task) })
    } finally {
      this.#running--
      this.#next()
    }
  }

  #next(): void {
    while (this.#running < this.#capacity && this.queueSize > 0) {
      const { task, signal, result } = this.#queue[this.#queueHead++]!
      if (signal?.aborted === true) result.reject(new TaskCancelled())
      else result.resolve(this.#start(task))
    }
    if (this.#queueHead > this.#queue.length / 2) {
      this.#queue = this.#queue.slice(this.#queueHead)
      this.#queueHead = 0
    }
  }

  async close(): Promise<void> {
    await this.#piscina.close()
  }
}

/** The bodies of a task: they are moved, not copied. */
export function transferable(task: PoolTask): ArrayBuffer[] {
  if (task.type === 'document') return []
  if (task.type === 'convert') return task.input.bodies.map((body) => body.buffer as ArrayBuffer)
  const { body } = task.input
  return body.byteLength === 0 ? [] : [body.buffer as ArrayBuffer]
}
