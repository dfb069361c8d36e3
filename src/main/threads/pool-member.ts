/**
 * Thread: main. One thread of the pool, and the tasks that it has under way. Each thread has a Piscina of its own,
 * because a Piscina of many threads cannot end one of them. While its event loop turns, the thread counts up a word of
 * shared memory (its heart, PoolPulse).
 *
 *   starting ──first beat──▶ beating ◀──▶ late (its heart stands still) ──end()──▶ ended
 *       ▲                                              └──the thread ends by itself──┐
 *       └────────────────────────────────────────────────────────────────────────────┘
 */
import type { MessagePort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { Deferred } from '../../lib/deferred.js'
import type { PoolTask, SlottedTask } from '../../protocol/main-pool.js'
import type { PoolLineOffer } from '../../protocol/pool-line.js'
import { type PoolHandover, PoolPulse } from '../../protocol/pool-pulse.js'
import type { PoolThreadData, PoolThreadMessage } from '../../protocol/pool-start.js'
import type { Caller } from './caller.js'
import { PoolLine } from './pool-line.js'

/** Bodies up to this size are copied to the thread and not moved, so that they can be sent to another thread. */
const MAX_KEPT_BYTES = 64 * 1024
/** A thread whose heart has stood still for so long gets no new tasks while another one's beats. */
const LATE_MS = 1_500

export class HandedTask {
  readonly task: SlottedTask
  readonly caller: Caller | undefined
  readonly result = new Deferred<unknown>()
  readonly transfer: readonly (ArrayBuffer | MessagePort)[]
  /** How many threads were lost while this task was under way in them. */
  strikes = 0

  constructor(task: SlottedTask, caller: Caller | undefined) {
    this.task = task
    this.caller = caller
    const movable = transferable(task)
    this.transfer = isSmall(movable) ? [] : movable
  }

  /**
   * Whether main still has the whole task, because none of its memory was moved to the thread; only then can it be run
   * again.
   */
  get kept(): boolean {
    return this.transfer.length === 0
  }
}

/** One handing over of a task. It is an object of its own, because a task may be handed to the same thread twice. */
interface Given {
  readonly handed: HandedTask
}

export interface LostTask {
  readonly handed: HandedTask
  readonly begun: boolean
}

export interface PoolMemberOptions {
  readonly filename: string
  readonly start: Omit<PoolThreadData, 'pulse'>
  readonly tasksPerThread: number
  /** The most tasks that are ever handed to one thread. */
  readonly places: number
  readonly onMessage: (message: Exclude<PoolThreadMessage, PoolLineOffer>) => void
  readonly onError: (error: unknown) => void
  /** How long a thread, by the system's number for it, has stood ready without a processor; undefined when that cannot be told now. */
  readonly waitedMs: (systemThread: number) => number | undefined
  /** Called when the thread ended by itself; Piscina has started another one in its place. */
  readonly onLost: (lost: readonly LostTask[]) => void
}

export class PoolMember {
  readonly #piscina: Piscina
  readonly #pulse: PoolPulse
  readonly #given = new Map<number, Given>()
  readonly #free: number[]
  /** The thread's line for small requests; undefined until it offers one. */
  #line: PoolLine | undefined
  #beats = 0
  #stillMs = 0
  /** What `waitedMs` gave when the heart was last looked at and stood still; undefined while it beats. */
  #waitedMs: number | undefined
  readonly #waited: (systemThread: number) => number | undefined
  #ended = false

  constructor({ filename, start, tasksPerThread, places, waitedMs, onMessage, onError, onLost }: PoolMemberOptions) {
    this.#waited = waitedMs
    this.#pulse = PoolPulse.create(places)
    this.#free = Array.from({ length: places }, (_, place) => places - 1 - place)
    this.#piscina = new Piscina({
      filename,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: tasksPerThread,
      // Waiting by Atomics would block a thread that has storage calls under way.
      atomics: 'disabled',
      workerData: { ...start, pulse: this.#pulse.buffer } satisfies PoolThreadData,
    })
    this.#piscina.on('message', (message: PoolThreadMessage) => {
      if (message.type === 'line') this.#openLine(message)
      else onMessage(message)
    })
    this.#piscina.on('error', onError)
    this.#piscina.on('workerDestroy', () => {
      if (this.#ended) return
      this.#closeLine()
      const lost = this.#takeAll()
      this.#pulse.reset()
      this.#beats = 0
      this.#stillMs = 0
      this.#waitedMs = undefined
      // Called a turn later: until then Piscina counts the thread that goes among its own, and would give it tasks.
      setImmediate(onLost, lost)
    })
  }

  get load(): number {
    return this.#given.size
  }

  /** How many of its tasks wait for a webhook. */
  get calling(): number {
    return this.#pulse.calling
  }

  /** How long the thread's heart has stood still though it had a processor; 0 for a thread that has not started. */
  get stillMs(): number {
    return this.#beats === 0 ? 0 : this.#stillMs
  }

  get isWell(): boolean {
    const { beats } = this.#pulse
    return beats !== 0 && (beats !== this.#beats || this.#stillMs < LATE_MS)
  }

  /** The task that was begun last and is still under way: most likely the one that the thread is busy with. */
  get lastBegun(): HandedTask | undefined {
    const place = this.#pulse.lastBegun
    return place === undefined ? undefined : this.#given.get(place)?.handed
  }

  /** The results of the tasks that are under way. */
  results(): Promise<unknown>[] {
    return [...this.#given.values()].map(({ handed }) => handed.result.promise)
  }

  /** Looks at the heart; `passedMs` is the time since the last look. */
  look(passedMs: number): void {
    const { beats, systemThread } = this.#pulse
    // A thread that loads has no heart yet.
    if (beats === 0) return
    if (beats === this.#beats) {
      const waitedMs = this.#waited(systemThread) ?? this.#waitedMs
      this.#stillMs += Math.max(0, passedMs - ((waitedMs ?? 0) - (this.#waitedMs ?? waitedMs ?? 0)))
      this.#waitedMs = waitedMs
      return
    }
    this.#beats = beats
    this.#stillMs = 0
    this.#waitedMs = undefined
  }

  give(handed: HandedTask): void {
    const place = this.#free.pop()!
    this.#pulse.clear(place)
    const given: Given = { handed }
    this.#given.set(place, given)
    const handover: PoolHandover = { place, task: handed.task }
    if (handed.kept && this.#line?.give(handover) === true) return
    this.#piscina.run(handover, { transferList: [...handed.transfer] }).then(
      (result: unknown) => {
        if (this.#settles(place, given)) handed.result.resolve(result)
      },
      (error: unknown) => {
        if (this.#settles(place, given)) handed.result.reject(error)
      },
    )
  }

  /** A place is free again only when its answer has come, so an answer on the line is always that of its last task. */
  #openLine(offer: PoolLineOffer): void {
    this.#line = new PoolLine(offer, {
      answered: (place, result) => this.#take(place)?.result.resolve(result),
      failed: (place, error) => this.#take(place)?.result.reject(error),
    })
  }

  #closeLine(): void {
    this.#line?.close()
    this.#line = undefined
  }

  #take(place: number): HandedTask | undefined {
    const given = this.#given.get(place)
    return given !== undefined && this.#settles(place, given) ? given.handed : undefined
  }

  /**
   * Ends the thread, whatever it does, and gives back its tasks. `ended` need not be awaited: a stuck thread may never
   * end.
   */
  end(): { readonly lost: readonly LostTask[]; readonly ended: Promise<void> } {
    this.#ended = true
    this.#closeLine()
    return { lost: this.#takeAll(), ended: this.#piscina.destroy() }
  }

  /** Frees the place of a task; false when the task was taken back meanwhile, so that its result no longer counts. */
  #settles(place: number, given: Given): boolean {
    if (this.#given.get(place) !== given) return false
    this.#given.delete(place)
    this.#free.push(place)
    return true
  }

  /** Takes all tasks back; the one that was begun last comes last. */
  #takeAll(): LostTask[] {
    const last = this.lastBegun
    const lost = [...this.#given].map(([place, { handed }]) => ({ handed, begun: this.#pulse.hasBegun(place) }))
    this.#free.push(...this.#given.keys())
    this.#given.clear()
    return [...lost.filter(({ handed }) => handed !== last), ...lost.filter(({ handed }) => handed === last)]
  }
}

/** The bodies and ports of a task, which are moved and not copied. */
export function transferable(task: PoolTask): (ArrayBuffer | MessagePort)[] {
  if (task.type === 'watch') return [task.input.port]
  if (task.type === 'convert') return task.input.bodies.map((body) => body.buffer as ArrayBuffer)
  if (task.type !== 'write' && task.type !== 'read') return []
  const { body } = task.input
  return body.byteLength === 0 ? [] : [body.buffer as ArrayBuffer]
}

function isSmall(movable: readonly (ArrayBuffer | MessagePort)[]): boolean {
  let bytes = 0
  for (const one of movable) bytes += 'byteLength' in one ? one.byteLength : Number.POSITIVE_INFINITY
  return bytes <= MAX_KEPT_BYTES
}
