/**
 * Thread: main. Large answers are written in slices, so that small requests are served in between. A front end is one
 * thread: an answer of four megabytes that is written in one go makes everybody else wait. Here the large answers take
 * turns, a slice each; one turn of the event loop gives all of them together a bounded time (TURN_MS), and requests
 * that have arrived meanwhile are served before the next turn.
 */

/** A job writes one slice of its answer. It returns true when it has more to write and its client can take more now. */
export type BulkJob = () => boolean

/** The time that all jobs together get in one turn of the event loop. Half a millisecond is about 256 KiB over TLS. */
const TURN_MS = 0.5
/**
 * So many refusals are sent in one turn, so that a client that ignores them and asks again at once is not answered
 * faster.
 */
const REFUSALS_A_TURN = 2

export interface BulkTurnsOptions {
  readonly nowMs: () => number
  /** Calls back after the event loop has looked at its sockets again. */
  readonly nextTurn: (callback: () => void) => void
}

export class BulkTurns {
  readonly #options: BulkTurnsOptions
  #jobs: BulkJob[] = []
  #next: BulkJob[] = []
  readonly #refusals: (() => void)[] = []
  #refusalsOut = 0
  #scheduled = false

  constructor(
    options: BulkTurnsOptions = { nowMs: () => performance.now(), nextTurn: (callback) => setImmediate(callback) },
  ) {
    this.#options = options
  }

  get pending(): number {
    return this.#jobs.length + this.#next.length
  }

  /**
   * Calls the job in later turns until it returns false. A job that stopped because its client was slow is added again
   * once the client is writable.
   */
  add(job: BulkJob): void {
    this.#next.push(job)
    this.#schedule()
  }

  /** Queues a refusal: `answer` writes it when its turn comes. */
  refuse(answer: () => void): void {
    this.#refusals.push(answer)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#options.nextTurn(() => {
      this.#scheduled = false
      this.#turn()
    })
  }

  #turn(): void {
    for (let i = 0; i < REFUSALS_A_TURN && this.#refusalsOut < this.#refusals.length; i++)
      this.#refusals[this.#refusalsOut++]!()
    if (this.#refusalsOut === this.#refusals.length) {
      this.#refusals.length = 0
      this.#refusalsOut = 0
    }
    const { nowMs } = this.#options
    const end = nowMs() + TURN_MS
    do {
      const job = this.#take()
      if (job === undefined) break
      if (job()) this.#next.push(job)
    } while (nowMs() < end)
    if (this.pending > 0 || this.#refusalsOut < this.#refusals.length) this.#schedule()
  }

  /** Gives the next job. A job that has written a slice waits until all others have written theirs (a round). */
  #take(): BulkJob | undefined {
    if (this.#jobs.length === 0) {
      // The list is reversed once a round, because pop() at the end costs nothing and shift() at the front moves all
      // jobs.
      this.#jobs = this.#next.reverse()
      this.#next = []
    }
    return this.#jobs.pop()
  }
}
