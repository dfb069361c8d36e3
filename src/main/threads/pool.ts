/**
 * Thread: main. The worker pool. A task crosses to a thread once and its result comes back once; the queue is bounded,
 * and threads that are stuck are replaced.
 */

import { cpus } from 'node:os'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import { newServiceUnavailable } from '../../api/status.js'
import { type Clock, pause, type Timer } from '../../lib/clock.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { moduleUrl } from '../../lib/module-url.js'
import { PendingCalls } from '../../lib/pending-calls.js'
import { threadWaitMs } from '../../lib/thread-wait.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { AccessChange } from '../../protocol/access-change.js'
import {
  NO_SLOT,
  type PoolResult,
  type PoolTaskName,
  type PoolTasks,
  type SlottedTask,
} from '../../protocol/main-pool.js'
import { BEAT_MS } from '../../protocol/pool-pulse.js'
import type { OwnerLine, PoolStart, PoolThreadMessage } from '../../protocol/pool-start.js'
import type { ResourceChangeAnswer, ResourceChangeMessage, ThreadChange } from '../../protocol/resource-change.js'
import type { InspectionLine } from '../../protocol/thread-inspection.js'
import type { Caller } from './caller.js'
import { CancelSlots } from './cancel-slots.js'
import { describeTask, fateOf } from './lost-task.js'
import { HandedTask, type LostTask, PoolMember } from './pool-member.js'
import { PoolMetrics } from './pool-metrics.js'
import { Suspects } from './suspects.js'
import { TaskQueue } from './task-queue.js'
import { WriteTrace } from './write-trace.js'

/** Tasks wait on storage most of their time, so a thread has many under way. */
const TASKS_PER_THREAD = 128
/**
 * The most tasks that may wait for a webhook, which can take half a minute, without taking the place of other tasks.
 * Beyond this number they take places, and further requests wait for them.
 */
const MAX_CALLING = 2048
/** The most requests that wait for a thread; further ones are told to come again. */
const MAX_QUEUE = 4096
/**
 * A thread whose heart stands still for longer than this is replaced. Time in which the system gave it no processor
 * does not count, because its successor would get none either. The largest request that a client may send takes a
 * second or two to decode (the decode budget sees to that).
 */
const STUCK_MS = 5_000
/** How long close() waits for tasks that are under way. */
const CLOSE_MS = 10_000
/** How many of the tasks of a lost thread are named in the log. */
const MAX_NAMED = 10

export interface PoolOptions {
  readonly threads: number
  readonly start: PoolStart
  /** Gives a line to the owner; each thread asks for one when it starts. */
  readonly attach: () => Promise<MessagePort>
  /** Takes the line over which a thread sends its pages of metrics. */
  readonly onMetrics: (port: MessagePort) => void
  /** Takes the line over which a thread can be looked into. */
  readonly onInspection: (line: InspectionLine) => void
  /** The defined resources as they are now. */
  readonly definitions: () => readonly ResourceDefinition[]
  /** What has changed of access so far. */
  readonly access: () => AccessChange
  readonly logger: Logger
  readonly recorder: Recorder
  readonly clock: Clock
  /** The module that the threads run: the pool's own unless a test says otherwise. */
  readonly filename?: string
  readonly stuckMs?: number
  readonly waitedMs?: (systemThread: number) => number | undefined
}

/** A thread for each core but one, at least one thread and at most 8. */
export const defaultPoolThreads = (): number => Math.max(1, Math.min(8, cpus().length - 1))

/** The pool as its callers see it. */
export interface PoolRunner {
  /**
   * Runs a task. When the caller goes, a task that has not begun never does, and one that has begun stops before its
   * next step.
   */
  run<K extends PoolTaskName>(type: K, input: Parameters<PoolTasks[K]>[0], caller?: Caller): Promise<PoolResult<K>>
}

/**
 * The pool keeps the queue of tasks itself. In Piscina's queue a signal that aborts a task under way ends its thread,
 * and with it all other tasks that are under way there.
 *
 *   new ──start()──▶ watching its threads ──close() or abandon()──▶ closed
 */
export class Pool implements Closable, PoolRunner {
  readonly #options: PoolOptions
  readonly #queue: TaskQueue
  readonly #slots: CancelSlots
  readonly #metrics: PoolMetrics
  readonly #trace: WriteTrace
  readonly #members: PoolMember[]
  readonly #suspects = new Suspects((task) => this.#place(task))
  /** The line to each thread over which it is told of changes, with the changes that it has not answered. */
  readonly #changePorts = new Map<MessagePort, PendingCalls<void>>()
  #timer: Timer | undefined
  #closing = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#metrics = new PoolMetrics(options.recorder, options.clock)
    const atOnce = options.threads * TASKS_PER_THREAD
    const capacity = (): number => atOnce + Math.min(MAX_CALLING, this.#calling())
    this.#queue = new TaskQueue({ capacity, maxWaiting: MAX_QUEUE })
    this.#slots = new CancelSlots(atOnce + MAX_CALLING)
    this.#trace = new WriteTrace(atOnce + MAX_CALLING, options.clock)
    this.#members = Array.from({ length: options.threads }, () => this.#open())
  }

  /** Begins to watch the hearts of the threads. */
  start(): void {
    this.#watch(this.#options.clock.monotonicMs())
  }

  get queueSize(): number {
    return this.#queue.waiting
  }

  /** How many threads can take a task and give a result. */
  get answering(): number {
    return this.#members.filter(({ isWell }) => isWell).length
  }

  /** Tells the threads of a change; resolves when each one has it or has ended. */
  async change(change: ThreadChange): Promise<void> {
    const answers = [...this.#changePorts].map(([port, waiting]) => {
      const sequence = waiting.nextId()
      port.postMessage({ sequence, change } satisfies ResourceChangeMessage)
      return waiting.wait(sequence)
    })
    await Promise.all(answers)
  }

  run<K extends PoolTaskName>(type: K, input: Parameters<PoolTasks[K]>[0], caller?: Caller): Promise<PoolResult<K>> {
    const start = (): Promise<PoolResult<K>> =>
      this.#slots.lend(caller, (slot) => {
        const give = (): Promise<PoolResult<K>> => {
          const handed = new HandedTask({ type, input, slot } as SlottedTask, caller)
          this.#place(handed)
          return handed.result.promise as Promise<PoolResult<K>>
        }
        const isFollowed = this.#trace.times.on && type === 'write' && slot !== NO_SLOT
        return isFollowed ? this.#trace.follow(slot, caller, give) : give()
      })
    return this.#metrics.timed(type, this.#queue.run(start, caller))
  }

  /** Follows writes for so many seconds, and tells how long they were in each stage of their way. */
  traceWrites(seconds: number): Promise<string> {
    return this.#trace.look(seconds)
  }

  /** Waits for tasks that are under way, but not for ever; a thread that is stuck is still taken out. */
  async close(): Promise<void> {
    this.#closing = true
    const underWay = this.#members.flatMap((member) => member.results())
    await Promise.race([Promise.allSettled(underWay), pause(this.#options.clock, CLOSE_MS)])
    await this.abandon()
  }

  /** Ends the threads without waiting for their tasks, whose callers are told that the server stops. */
  async abandon(): Promise<void> {
    this.#closing = true
    this.#timer?.cancel()
    const ends = this.#members.splice(0).map((member) => member.end())
    for (const { lost } of ends) for (const { handed } of lost) handed.result.reject(closed())
    await Promise.all(ends.map(({ ended }) => ended))
  }

  #calling(): number {
    let calling = 0
    for (const member of this.#members) calling += member.calling
    return calling
  }

  #open(): PoolMember {
    const { filename = moduleUrl('workers/pool-thread.js').href, start, threads, logger } = this.#options
    const failed = (error: unknown): void => logger.error({ err: error }, 'a pool thread failed')
    return new PoolMember({
      filename,
      start: { ...start, cancelFlags: this.#slots.memory, stageTimes: this.#trace.times.memory },
      tasksPerThread: TASKS_PER_THREAD + MAX_CALLING,
      places: threads * TASKS_PER_THREAD + MAX_CALLING,
      onMessage: (message) => this.#take(message, failed),
      onError: failed,
      waitedMs: this.#options.waitedMs ?? threadWaitMs,
      onLost: (lost) => this.#settleLost(lost, 'ended', {}),
    })
  }

  #take(message: PoolThreadMessage, failed: (error: unknown) => void): void {
    const { onMetrics, onInspection, attach } = this.#options
    if (message.type === 'metrics') onMetrics(message.port)
    else if (message.type === 'inspection') onInspection(message)
    else attach().then((port) => this.#welcome(message.port, port), failed)
  }

  /**
   * Hands the task to the thread with the fewest tasks; to one whose heart stands still only when there is no other.
   */
  #place(handed: HandedTask): void {
    let best: PoolMember | undefined
    for (const member of this.#members) if (best === undefined || preference(member) < preference(best)) best = member
    if (best === undefined) handed.result.reject(closed())
    else best.give(handed)
  }

  /**
   * The time between two looks counts for two beats at most: when main itself is late, that is not held against the
   * threads.
   */
  #watch(lastMs: number): void {
    const { clock, stuckMs = STUCK_MS } = this.#options
    this.#timer = clock.after(BEAT_MS, () => {
      const nowMs = clock.monotonicMs()
      for (const member of this.#members) member.look(Math.min(nowMs - lastMs, 2 * BEAT_MS))
      this.#queue.look()
      for (const member of this.#members.filter(({ stillMs }) => stillMs >= stuckMs)) this.#replace(member)
      this.#watch(nowMs)
    })
  }

  #replace(member: PoolMember): void {
    const { lastBegun, stillMs } = member
    const { lost, ended } = member.end()
    const { logger } = this.#options
    ended.catch((error: unknown) => logger.error({ err: error }, 'a pool thread could not be ended'))
    if (this.#closing) this.#members.splice(this.#members.indexOf(member), 1)
    else this.#members[this.#members.indexOf(member)] = this.#open()
    this.#settleLost(lost, 'stuck', { stillMs: Math.round(stillMs), at: lastBegun && describeTask(lastBegun.task) })
  }

  #settleLost(lost: readonly LostTask[], reason: 'stuck' | 'ended', fields: object): void {
    if (this.#closing && lost.length === 0) return
    this.#metrics.replaced(reason)
    const underWay = lost.filter(({ begun }) => begun)
    this.#options.logger.error(
      {
        ...fields,
        reason,
        tasks: lost.length,
        underWay: underWay.slice(-MAX_NAMED).map(({ handed }) => describeTask(handed.task)),
      },
      'a pool thread was replaced',
    )
    for (const { handed, begun } of lost) {
      const fate = this.#closing ? closed() : fateOf(handed, begun)
      if (fate === 'again') this.#place(handed)
      else if (fate === 'alone') this.#suspects.add(handed)
      else handed.result.reject(fate)
    }
  }

  /** Gives a new thread its lines and what has changed so far; from here on it is told of changes. */
  #welcome(thread: MessagePort, port: MessagePort): void {
    const [definitions, access] = [this.#options.definitions(), this.#options.access()]
    const { port1, port2 } = new MessageChannel()
    const waiting = new PendingCalls<void>()
    this.#changePorts.set(port1, waiting)
    port1.on('message', ({ sequence }: ResourceChangeAnswer) => waiting.resolve(sequence))
    port1.on('close', () => {
      this.#changePorts.delete(port1)
      waiting.resolveAll()
    })
    port1.unref()
    thread.postMessage({ port, changes: port2, definitions, access } satisfies OwnerLine, [port, port2])
  }
}

const closed = () => newServiceUnavailable('the server is stopping')

function preference(member: PoolMember): number {
  return member.load + (member.isWell ? 0 : 1e6)
}
