/**
 * Thread: any but the owner. The fence of one storage cluster for a thread that reads.
 *
 *   the clock is the truth (embedded) ──▶ passed
 *   no source of revisions            ──▶ the owner's fence, one question a turn
 *   a source (a front end on etcd)    ──▶ asked ──R──▶ the clock is at R, and has followed all the time ──▶ passed
 *                                           │           R is below what was seen ──▶ the owner is told; the storage answers
 *                                           └── late, lost, the clock stays behind, it stopped meanwhile ──▶ the owner's fence
 *
 * A thread with a source asks the store itself: two hops less, and the owner does nothing for a read. Whatever is not
 * the usual course is the owner's: it alone pushes the stream, knows whether memory is being listed again, and bounds the wait.
 *
 * One question is under way at a time: a read waits for two at most, and the busier it is the more reads share one.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.js'
import { Deferred } from '../../lib/deferred.js'
import type { RevisionSource } from '../../storage/contract/revision-source.js'
import type { ClockView } from '../memory/shared-memory.js'
import type { ClockTruth } from './clock-truth.js'
import type { Fence } from './fence.js'
import { type FollowingEpoch, isFollowing } from './following-epoch.js'

export interface ReaderFenceOptions {
  readonly truth: ClockTruth
  readonly following: FollowingEpoch
  readonly revisionClock: ClockView
  readonly clock: Clock
  /** Without one, the owner asks. */
  readonly source: RevisionSource | undefined
  /** Asks the owner's fence. Never rejects. */
  readonly askOwner: () => Promise<boolean>
  /** Tells the owner that the store answered at a revision older than one that was seen in this epoch. */
  readonly tellWentBack: (revision: number, epoch: number) => void
  /** Is told of each question to the source whose reads passed without the owner. */
  readonly onPassed: (durationMs: number) => void
}

/**
 * How long the clock may stay behind an answer before the owner is asked. What is on its way arrives within it; else the
 * revision was written outside our prefix, and the owner pushes the stream.
 */
const BEHIND_MS = 3
/** After a question without an answer the owner is asked for so long: its client looks for another server. */
const REST_MS = 5_000

export class ReaderFence implements Fence {
  readonly #options: ReaderFenceOptions
  #collecting: Deferred<boolean> | undefined
  #asking = false
  #restUntilMs = Number.NEGATIVE_INFINITY
  #ownersTurn: Promise<boolean> | undefined

  constructor(options: ReaderFenceOptions) {
    this.#options = options
  }

  pass(): true | Promise<boolean> {
    const { truth, source } = this.#options
    if (truth.holds()) return true
    if (source === undefined) return this.#askOwner()
    this.#collecting ??= new Deferred<boolean>()
    const { promise } = this.#collecting
    if (!this.#asking) {
      this.#asking = true
      // All reads of a turn share a question, which is sent after the last of them.
      setImmediate(() => this.#next(source))
    }
    return promise
  }

  /**
   * All reads of a turn share a question to the owner. A turn, not a microtask: the loop calls back for each connection
   * that has something to say, and runs microtasks after each.
   */
  #askOwner(): Promise<boolean> {
    this.#ownersTurn ??= nextTurn().then(() => {
      this.#ownersTurn = undefined
      return this.#options.askOwner()
    })
    return this.#ownersTurn
  }

  /** Asks for everybody who has come since the last question was sent. */
  #next(source: RevisionSource): void {
    const group = this.#collecting
    this.#collecting = undefined
    this.#asking = group !== undefined
    if (group === undefined) return
    const { clock, following, revisionClock } = this.#options
    const startMs = clock.monotonicMs()
    const epoch = following.current()
    if (!isFollowing(epoch)) {
      group.resolve(false)
      this.#next(source)
      return
    }
    const seen = revisionClock.revision()
    const answer = startMs < this.#restUntilMs ? undefined : source.ask()
    if (answer === undefined) {
      group.resolve(this.#askOwner())
      this.#next(source)
      return
    }
    void answer.then((revision) => {
      if (revision === undefined) this.#restUntilMs = clock.monotonicMs() + REST_MS
      // The next question is on its way before the reads of this one are answered, which may take a while.
      const isNext = this.#collecting !== undefined
      this.#next(source)
      const go = (): void => this.#answered(group, { revision, epoch, seen, startMs })
      if (isNext) setImmediate(go)
      else go()
    })
  }

  #answered(
    group: Deferred<boolean>,
    asked: {
      readonly revision: number | undefined
      readonly epoch: number
      readonly seen: number
      readonly startMs: number
    },
  ): void {
    const { revisionClock, tellWentBack } = this.#options
    const { revision, epoch, seen, startMs } = asked
    if (revision === undefined) group.resolve(this.#askOwner())
    else if (revision < seen) {
      tellWentBack(revision, epoch)
      group.resolve(false)
    } else if (revisionClock.revision() >= revision) this.#settle(group, epoch, startMs)
    else void this.#await(revision).then((reached) => this.#settle(group, reached ? epoch : undefined, startMs))
  }

  /** `epoch`: in which the clock was at the answer; undefined when it did not get there. */
  #settle(group: Deferred<boolean>, epoch: number | undefined, startMs: number): void {
    const { following, clock, onPassed } = this.#options
    if (epoch !== following.current()) {
      group.resolve(this.#askOwner())
      return
    }
    onPassed(clock.monotonicMs() - startMs)
    group.resolve(true)
  }

  async #await(revision: number): Promise<boolean> {
    const { revisionClock, clock } = this.#options
    const limit = new AbortController()
    const timer = clock.after(BEHIND_MS, () => limit.abort())
    try {
      await revisionClock.reached(revision, limit.signal)
      return true
    } catch {
      // The wait was ended by its limit.
      return false
    } finally {
      timer.cancel()
    }
  }
}
