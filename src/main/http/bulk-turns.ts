/**
 * Thread: main. Large answers in slices, so that small requests go in between. A front end is one thread: whoever writes
 * four megabytes in one go makes everybody else wait for it. Here each answer writes a slice in its turn; a turn of the
 * event loop gives all of them together a bounded time, then what has arrived meanwhile is served first.
 */

/** Writes one slice. True: there is more, and it can go on now. */
export type BulkJob = () => boolean

/** Of one turn of the event loop. Half a millisecond is about 256 KiB over TLS. */
const TURN_MS = 0.5
/** Refusals of one turn: a client that takes no notice of them gets them no faster. */
const REFUSALS_A_TURN = 2

export interface BulkTurnsOptions {
  readonly nowMs: () => number
  /** Calls back when the loop has looked at its sockets again. */
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

  /** The job is called in later turns until it gives false; whoever can go on again later adds it again. */
  add(job: BulkJob): void {
    this.#next.push(job)
    this.#schedule()
  }

  /** Tells a client that it is refused, when its turn comes. */
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

  /** Round after round: who has had a slice waits until all others have had theirs. */
  #take(): BulkJob | undefined {
    if (this.#jobs.length === 0) {
      // Reversed once a round, so that each is taken from the end for nothing.
      this.#jobs = this.#next.reverse()
      this.#next = []
    }
    return this.#jobs.pop()
  }
}
