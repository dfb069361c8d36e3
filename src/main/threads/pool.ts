/** Thread: main. The worker pool: one crossing each way, bytes transferred, a bounded queue. */

import { cpus } from 'node:os'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import type { Clock } from '../../lib/clock.js'
import type { Closable } from '../../lib/lifecycle.js'
import { moduleUrl } from '../../lib/module-url.js'
import { PendingCalls } from '../../lib/pending-calls.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { PoolResult, PoolTask, PoolTaskName, PoolTasks, SlottedTask } from '../../protocol/main-pool.js'
import type { OwnerLine, PoolStart, PoolThreadData, PoolThreadMessage } from '../../protocol/pool-start.js'
import type { ResourceChange, ResourceChangeAnswer, ResourceChangeMessage } from '../../protocol/resource-change.js'
import type { InspectionLine } from '../../protocol/thread-inspection.js'
import type { Caller } from './caller.js'
import { CancelSlots } from './cancel-slots.js'
import { PoolMetrics } from './pool-metrics.js'
import { TaskQueue } from './task-queue.js'

/** Tasks wait on storage most of their time, so a thread has many under way. */
const TASKS_PER_THREAD = 128
/** Requests that wait for a thread; beyond it they are told to come again. */
const MAX_QUEUE = 4096

export interface PoolOptions {
  readonly threads: number
  readonly start: PoolStart
  /** Each thread asks for a line to the owner when it starts. */
  readonly attach: () => Promise<MessagePort>
  /** The line over which a thread sends its pages of metrics. */
  readonly onMetrics: (port: MessagePort) => void
  /** How a thread is looked into. */
  readonly onInspection: (line: InspectionLine) => void
  /** The defined resources as they are. */
  readonly definitions: () => readonly ResourceDefinition[]
  readonly onWorkerError: (error: unknown) => void
  readonly recorder: Recorder
  readonly clock: Clock
}

/** One thread for the front end, one for the owner; the pool gets the rest, and never less than one. */
export const defaultPoolThreads = (): number => Math.max(1, Math.min(8, cpus().length - 1))

/** Who wants something of the pool needs no more of it. */
export interface PoolRunner {
  /** What has not begun when the caller is gone never does; what has begun stops before its next step. */
  run<K extends PoolTaskName>(type: K, input: Parameters<PoolTasks[K]>[0], caller?: Caller): Promise<PoolResult<K>>
}

/**
 * Tasks wait here, not in Piscina: there, a signal that aborts a task under way ends its thread, and all the others that
 * are under way in it.
 */
export class Pool implements Closable, PoolRunner {
  readonly #piscina: Piscina
  readonly #queue: TaskQueue
  readonly #slots: CancelSlots
  readonly #metrics: PoolMetrics
  /** The threads that are there, each with the changes that it has not answered. */
  readonly #changePorts = new Map<MessagePort, PendingCalls<void>>()

  constructor(options: PoolOptions) {
    this.#metrics = new PoolMetrics(options.recorder, options.clock)
    const capacity = options.threads * TASKS_PER_THREAD
    this.#queue = new TaskQueue({ capacity, maxWaiting: MAX_QUEUE })
    this.#slots = new CancelSlots(capacity)
    this.#piscina = new Piscina({
      filename: moduleUrl('workers/pool-thread.js').href,
      minThreads: options.threads,
      maxThreads: options.threads,
      concurrentTasksPerWorker: TASKS_PER_THREAD,
      // Waiting by Atomics would block a thread that has storage calls under way.
      atomics: 'disabled',
      workerData: { ...options.start, cancelFlags: this.#slots.memory } satisfies PoolThreadData,
    })
    this.#piscina.on('message', (message: PoolThreadMessage) => {
      if (message.type === 'metrics') {
        options.onMetrics(message.port)
        return
      }
      if (message.type === 'inspection') {
        options.onInspection(message)
        return
      }
      options.attach().then((port) => this.#welcome(message.port, port, options.definitions()), options.onWorkerError)
    })
    this.#piscina.on('error', options.onWorkerError)
  }

  get queueSize(): number {
    return this.#queue.waiting
  }

  /** Resolves when every thread has it; one that has ended needs nothing. */
  async change(change: ResourceChange): Promise<void> {
    const answers = [...this.#changePorts].map(([port, waiting]) => {
      const sequence = waiting.nextId()
      port.postMessage({ sequence, change } satisfies ResourceChangeMessage)
      return waiting.wait(sequence)
    })
    await Promise.all(answers)
  }

  /** From here on the thread is told of changes: what it is given now is all that came before. */
  #welcome(thread: MessagePort, port: MessagePort, definitions: readonly ResourceDefinition[]): void {
    const { port1, port2 } = new MessageChannel()
    const waiting = new PendingCalls<void>()
    this.#changePorts.set(port1, waiting)
    port1.on('message', ({ sequence }: ResourceChangeAnswer) => waiting.resolve(sequence))
    port1.on('close', () => {
      this.#changePorts.delete(port1)
      waiting.resolveAll()
    })
    port1.unref()
    thread.postMessage({ port, changes: port2, definitions } satisfies OwnerLine, [port, port2])
  }

  run<K extends PoolTaskName>(type: K, input: Parameters<PoolTasks[K]>[0], caller?: Caller): Promise<PoolResult<K>> {
    const start = (): Promise<PoolResult<K>> =>
      this.#slots.lend(caller, (slot) => {
        const task = { type, input, slot } as SlottedTask
        return this.#piscina.run(task, { transferList: transferable(task) })
      })
    return this.#metrics.timed(type, this.#queue.run(start, caller))
  }

  async close(): Promise<void> {
    await this.#piscina.close()
  }

  /** Ends threads that wait for what will not come. */
  async abandon(): Promise<void> {
    await this.#piscina.destroy()
  }
}

/** The bodies and ports of a task: they are moved, not copied. */
export function transferable(task: PoolTask): (ArrayBuffer | MessagePort)[] {
  if (task.type === 'watch') return [task.input.port]
  if (task.type === 'convert') return task.input.bodies.map((body) => body.buffer as ArrayBuffer)
  if (task.type !== 'write' && task.type !== 'read') return []
  const { body } = task.input
  return body.byteLength === 0 ? [] : [body.buffer as ArrayBuffer]
}
