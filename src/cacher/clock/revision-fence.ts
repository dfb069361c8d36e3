/**
 * Thread: owner. Linearizable reads from memory: one question to the store answers every read that arrived before it
 * was sent; then they wait until the clock has reached the answer.
 *
 *   reads ──▶ group n+1 (collecting) ──sent when group n is answered──▶ group n (asked) ──answer R──▶ waiting for R
 *
 * One question is under way at a time, so a read waits for two at most, and the busier it is the more reads share one.
 */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../lib/clock.js'
import { Deferred } from '../../lib/deferred.js'
import type { KV } from '../../storage/contract/kv.js'
import type { CacherMetrics } from '../feed/cacher-metrics.js'
import type { ClockView } from '../memory/shared-memory.js'
import type { Fence } from './fence.js'
import type { StreamProgress } from './stream-progress.js'

export interface RevisionFenceOptions {
  readonly kv: KV
  readonly revisionClock: ClockView
  readonly progress: StreamProgress
  readonly clock: Clock
  /** Whether the clock follows the store; while it does not, no read passes. */
  readonly following: () => boolean
  readonly metrics: CacherMetrics
  /** The store answers at a revision older than one that it was already seen at: it was restored from a backup. */
  readonly onWentBack: (revision: number) => void
  /** How long a read may take to pass: for the question and for the clock together. */
  readonly limitMs?: number
}

/** Kubernetes waits as long for its watch cache to become fresh. */
const DEFAULT_LIMIT_MS = 3_000

export class RevisionFence implements Fence {
  readonly #options: RevisionFenceOptions
  readonly #limitMs: number
  #collecting: Deferred<boolean> | undefined
  #asking = false
  #giveUp = groupsUnderWay()

  constructor(options: RevisionFenceOptions) {
    this.#options = options
    this.#limitMs = options.limitMs ?? DEFAULT_LIMIT_MS
  }

  pass(): Promise<boolean> {
    if (!this.#options.following()) return Promise.resolve(false)
    this.#collecting ??= new Deferred<boolean>()
    const group = this.#collecting
    if (!this.#asking) void this.#askForGroups()
    return group.promise
  }

  /** Sends everybody who waits for the clock to the storage, because the clock stands still from now on. */
  abandon(): void {
    this.#giveUp.abort()
    this.#giveUp = groupsUnderWay()
  }

  async #askForGroups(): Promise<void> {
    this.#asking = true
    // Reads that arrive in the same turn of the loop belong to the same question.
    await Promise.resolve()
    while (this.#collecting !== undefined) {
      const group = this.#collecting
      this.#collecting = undefined
      const startMs = this.#options.clock.monotonicMs()
      const seen = this.#options.revisionClock.revision()
      let revision = await this.#ask()
      if (revision !== undefined && revision < seen) {
        this.#options.onWentBack(revision)
        revision = undefined
      }
      // The next question is sent while this group still waits for the clock.
      void this.#answer(group, revision, startMs)
    }
    this.#asking = false
  }

  async #answer(group: Deferred<boolean>, revision: number | undefined, startMs: number): Promise<void> {
    const { clock, metrics } = this.#options
    const passed = revision !== undefined && (await this.#reached(revision, startMs + this.#limitMs))
    metrics.fence(passed, clock.monotonicMs() - startMs)
    group.resolve(passed)
  }

  async #ask(): Promise<number | undefined> {
    try {
      return await this.#options.kv.currentRevision({ timeoutMs: this.#limitMs, signal: this.#giveUp.signal })
    } catch {
      // The store could not be asked. The reads of this group go to the storage, whose error tells their clients what
      // is wrong.
      return undefined
    }
  }

  async #reached(revision: number, deadlineMs: number): Promise<boolean> {
    const { revisionClock, progress, clock } = this.#options
    if (revisionClock.revision() >= revision) return true
    const limit = new AbortController()
    const giveUp = this.#giveUp.signal
    const end = (): void => limit.abort()
    const timer = clock.after(deadlineMs - clock.monotonicMs(), end)
    giveUp.addEventListener('abort', end)
    const needless = progress.need(revision)
    try {
      await revisionClock.reached(revision, limit.signal)
      return true
    } catch {
      // The wait was ended by its limit or by abandon(): either way the storage answers.
      return false
    } finally {
      needless()
      timer.cancel()
      giveUp.removeEventListener('abort', end)
    }
  }
}

/** The controller whose signal ends the waits of all groups under way. Any number of them may listen to it. */
function groupsUnderWay(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
