/**
 * Thread: pool. The requests that this thread has under way, and whether anybody waits for them. Work asks before each
 * step, by reading a flag; for work that waits meanwhile (on a storage that does not answer) all flags are looked at
 * together, some times a second.
 */
import { newTimeout } from '../../api/status.js'
import { Cancellation } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import { NO_SLOT } from '../../protocol/main-pool.js'

/** How long a storage call may outlive its client. Each look costs some nanoseconds a request. */
const LOOK_INTERVAL_MS = 50

/** A client that has gone is never told; one whose deadline passed has its answer from the front end already. */
const nobodyWaits = () => newTimeout('request did not complete within the allotted timeout', 0)

export class RequestCancellation extends Cancellation {
  readonly #flags: Int32Array
  readonly slot: number
  readonly #deadlineMs: number

  constructor(flags: Int32Array, slot: number, deadlineMs: number) {
    super()
    this.#flags = flags
    this.slot = slot
    this.#deadlineMs = deadlineMs
  }

  override get aborted(): boolean {
    if (!super.aborted && this.slot !== NO_SLOT && Atomics.load(this.#flags, this.slot) === 1) this.abort(nobodyWaits())
    return super.aborted
  }

  look(nowMs: number): void {
    if (!this.aborted && nowMs >= this.#deadlineMs) this.abort(nobodyWaits())
  }
}

export class RequestsUnderWay {
  readonly #flags: Int32Array
  readonly #clock: Clock
  readonly #requests = new Set<RequestCancellation>()
  #looking = false

  constructor(flags: SharedArrayBuffer, clock: Clock) {
    this.#flags = new Int32Array(flags)
    this.#clock = clock
  }

  async run<T>(slot: number, deadlineMs: number, work: (cancellation: RequestCancellation) => Promise<T>): Promise<T> {
    const cancellation = new RequestCancellation(this.#flags, slot, deadlineMs)
    this.#requests.add(cancellation)
    if (!this.#looking) this.#lookLater()
    try {
      return await work(cancellation)
    } finally {
      this.#requests.delete(cancellation)
    }
  }

  /** Looks again until no request is under way: there is one timer a thread, however many requests come and go. */
  #lookLater(): void {
    this.#looking = true
    this.#clock.after(LOOK_INTERVAL_MS, () => {
      const nowMs = this.#clock.now()
      for (const request of this.#requests) request.look(nowMs)
      if (this.#requests.size > 0) this.#lookLater()
      else this.#looking = false
    })
  }
}
