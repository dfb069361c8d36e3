/**
 * Thread: owner. Brings the clock to a revision that the stream does not reach by itself, because what was written
 * there is outside our prefix (another user of the cluster, or the compactor's own key).
 *
 * Two ways, by what the servers can be trusted with:
 * - a progress request, for etcd from 3.4.25 and 3.5.8 on: its answer comes through the stream, behind every event that
 *   it covers.
 * - a mark: a key of our own inside the prefix, written once; its event too is behind everything before it. For older
 *   servers, which answer a progress request beside the queue of events, and so too early. One write serves
 *   all reads until somebody writes outside our prefix again; docs/adr/0007-revision-fence.md has what was rejected.
 */
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { KV } from '../../storage/contract/kv.js'
import type { ClockView } from '../memory/shared-memory.js'

export interface StreamProgressOptions {
  readonly kv: KV
  /** A key inside the watched prefix that belongs to no resource; marks are written to it. */
  readonly markKey: string
  readonly progressTrusted: () => Promise<boolean> | boolean
  readonly revisionClock: ClockView
  readonly clock: Clock
  readonly logger: Logger
  /** How long the stream may take to reach a revision by itself before it is pushed. */
  readonly graceMs?: number
}

/**
 * Most revisions are on their way already when somebody waits for them; on a busy machine they take a little longer.
 */
const DEFAULT_GRACE_MS = 10
/** Time between two pushes while somebody waits: the first may have been lost with its connection. */
const REPEAT_MS = 100
/** Time between two marks: a neighbour that writes much outside our prefix must not make us write as often. */
const MARK_INTERVAL_MS = 50
const MARK_VALUE = 'everything before this has been delivered'

export class StreamProgress {
  readonly #options: StreamProgressOptions
  #target = 0
  #driving = false
  #waiting = 0
  #markRevision: number | undefined
  #lastMarkMs = Number.NEGATIVE_INFINITY

  constructor(options: StreamProgressOptions) {
    this.#options = options
  }

  /**
   * Notes that a reader waits for `revision`. The function that it returns is called when the reader waits no longer.
   */
  need(revision: number): () => void {
    this.#target = Math.max(this.#target, revision)
    this.#waiting++
    if (!this.#driving) void this.#drive()
    return () => {
      this.#waiting--
    }
  }

  /** Forgets the revisions that were waited for: the store went back to an older revision, and they will not come. */
  reset(): void {
    this.#target = 0
    this.#markRevision = undefined
  }

  async #drive(): Promise<void> {
    this.#driving = true
    await this.#pause(this.#options.graceMs ?? DEFAULT_GRACE_MS)
    while (this.#wanted()) {
      try {
        await this.#push()
      } catch (error) {
        // Readers that wait reach their limit and read the storage, whose error says what is wrong.
        this.#options.logger.debug({ error }, 'the stream could not be asked for progress')
      }
      if (this.#wanted()) await this.#pause(REPEAT_MS)
    }
    this.#driving = false
  }

  #wanted(): boolean {
    return this.#waiting > 0 && this.#options.revisionClock.revision() < this.#target
  }

  async #push(): Promise<void> {
    const { kv, progressTrusted, clock } = this.#options
    if (await progressTrusted()) return kv.requestProgress()
    if ((this.#markRevision ?? 0) >= this.#target) return
    await this.#pause(this.#lastMarkMs + MARK_INTERVAL_MS - clock.monotonicMs())
    if (!this.#wanted()) return
    this.#lastMarkMs = clock.monotonicMs()
    await this.#mark()
  }

  async #mark(): Promise<void> {
    const { kv, markKey } = this.#options
    this.#markRevision ??= (await kv.get(markKey)).kv?.modRevision ?? 0
    const result = await kv.optimisticPut(markKey, Buffer.from(MARK_VALUE), this.#markRevision, { getOnFailure: true })
    // When the write is refused, a peer has just written the mark: its mark serves as well when it is new enough.
    this.#markRevision = result.succeeded ? result.revision : (result.kv?.modRevision ?? 0)
  }

  async #pause(delayMs: number): Promise<void> {
    if (delayMs > 0) await new Promise<void>((resolve) => void this.#options.clock.after(delayMs, resolve))
  }
}
