/**
 * Thread: controllers. A queue of keys as client-go's: a key that waits is there once, a key that is added while it is worked
 * on is worked on again afterwards, and never by two at once. A key that fails comes back after a pause that doubles.
 *
 *   add() ──▶ waiting ──▶ under way ──done──▶ forgotten
 *              ▲   ▲          │ └─added meanwhile─┐
 *              │   └──────────┼───────────────────┘
 *              └──the pause───┘ failed
 *
 * The queue holds each key once, so it is bounded by the number of objects.
 */
import type { Clock, Timer } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { WorkItem, WorkMetrics } from '../../metrics/work-metrics.js'
import { isOwnFailure } from './unfinished.js'

/** The pauses of client-go's default rate limiter. */
const FIRST_PAUSE_MS = 5
const MAX_PAUSE_MS = 1_000_000

export interface WorkQueueOptions {
  /** Works on one key; what it throws puts the key back. */
  readonly sync: (key: string) => Promise<void>
  /** How many keys are worked on at once. */
  readonly workers: number
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: WorkMetrics
  readonly firstPauseMs?: number | undefined
  readonly maxPauseMs?: number | undefined
}

export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #waiting = new Map<string, WorkItem>()
  readonly #underWay = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, number>()
  readonly #delayed = new Map<string, { readonly dueMs: number; readonly timer: Timer }>()
  #again = new Set<string>()
  #isFilling = false
  #state: 'new' | 'running' | 'stopped' = 'new'
  /** What the last key failed with, when that says that the controller is not well (isOwnFailure). */
  lastFailure: Error | undefined

  constructor(options: WorkQueueOptions) {
    this.#options = options
  }

  get length(): number {
    return this.#waiting.size
  }

  start(): void {
    if (this.#state === 'new') this.#state = 'running'
    this.#fill()
  }

  /** Resolves when nothing is under way any longer. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    for (const { timer } of this.#delayed.values()) timer.cancel()
    this.#delayed.clear()
    for (const item of this.#waiting.values()) {
      item.start()
      item.done(false)
    }
    this.#waiting.clear()
    await Promise.all(this.#underWay.values())
  }

  add(key: string): void {
    if (this.#state === 'stopped' || this.#waiting.has(key)) return
    if (this.#underWay.has(key)) {
      this.#again.add(key)
      return
    }
    this.#waiting.set(key, this.#options.metrics.add())
    this.#fill()
  }

  /** Adds the key after a pause; when it is to come sooner already, it does. */
  addAfter(key: string, delayMs: number): void {
    if (this.#state === 'stopped') return
    if (delayMs <= 0) {
      this.add(key)
      return
    }
    const { clock } = this.#options
    const dueMs = clock.monotonicMs() + delayMs
    const before = this.#delayed.get(key)
    if (before !== undefined && before.dueMs <= dueMs) return
    before?.timer.cancel()
    const timer = clock.after(delayMs, () => {
      this.#delayed.delete(key)
      this.add(key)
    })
    this.#delayed.set(key, { dueMs, timer })
  }

  /** Work never begins in the call that added its key: handlers add keys while they are given what changed. */
  #fill(): void {
    if (this.#state !== 'running' || this.#isFilling || this.#waiting.size === 0) return
    this.#isFilling = true
    queueMicrotask(() => {
      this.#isFilling = false
      this.#begin()
    })
  }

  #begin(): void {
    if (this.#state !== 'running') return
    for (const [key, item] of this.#waiting) {
      if (this.#underWay.size >= this.#options.workers) return
      this.#waiting.delete(key)
      // The key is under way before its work begins, which may add it again at once.
      this.#underWay.set(key, Promise.resolve())
      this.#underWay.set(key, this.#work(key, item))
    }
  }

  async #work(key: string, item: WorkItem): Promise<void> {
    item.start()
    let failure: Error | undefined
    try {
      await this.#options.sync(key)
      this.#failures.delete(key)
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
    }
    this.lastFailure = isOwnFailure(failure) ? failure : undefined
    item.done(failure !== undefined)
    this.#underWay.delete(key)
    if (failure !== undefined) this.#retry(key, failure)
    if (this.#again.delete(key)) this.add(key)
    this.#fill()
  }

  #retry(key: string, error: Error): void {
    const { firstPauseMs = FIRST_PAUSE_MS, maxPauseMs = MAX_PAUSE_MS, logger } = this.#options
    const failures = this.#failures.get(key) ?? 0
    if (this.#state === 'stopped') return
    this.#failures.set(key, failures + 1)
    const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(failures, 40))
    // The first failures are mostly two writers who met; what goes on failing is worth a line, less and less often.
    const level = pauseMs < 100 ? 'debug' : 'warn'
    logger[level]({ err: error, key, failures: failures + 1, pauseMs }, 'a key failed and is tried again')
    this.addAfter(key, pauseMs)
  }
}
