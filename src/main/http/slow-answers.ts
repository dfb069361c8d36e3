/**
 * Thread: main, or a front end's own. Bounds the memory of answers whose bytes this thread keeps until their clients
 * have read them: lists that were converted, compressed answers, answers of the pool. (Lists out of shared memory have
 * a bound of their own, verbs/slow-lists.ts.) A fast client needs its bytes for a moment only; all slow ones together
 * may keep a stated number of bytes. When they keep more, the answers that are read slowest are broken off until the
 * others fit. This is looked at once a second, because a client that has waited for less cannot be judged yet.
 */
import type { Clock, Timer } from '../../lib/clock.js'

/**
 * The bytes that slow clients of a process may keep, all front ends together: a few hundred answers of a usual size, or
 * one list of 10,000 pods.
 */
export const SLOW_ANSWER_BYTES = 64 * 1024 * 1024
/**
 * A client is slow when it takes less than this a second of its answer, on average since it first had to be waited for.
 */
const SLOW_BYTES_A_SECOND = 1024 * 1024
const LOOK_MS = 1000

export interface WaitingAnswer {
  /** The bytes that are kept in memory for the answer until its end. */
  readonly heldBytes: number
  takenBytes(): number
  /** Gives the answer up by closing the connection. */
  breakOff(): void
}

export interface SlowAnswersOptions {
  readonly clock: Clock
  readonly limitBytes: number
  /** Is told, after each look, how many bytes slow clients keep. */
  readonly onLook: (heldBytes: number) => void
  readonly onBreakOff: (answer: WaitingAnswer) => void
}

export class SlowAnswers {
  readonly #options: SlowAnswersOptions
  /** The time at which each answer first had to wait for its client. */
  readonly #waiting = new Map<WaitingAnswer, number>()
  #timer: Timer | undefined

  constructor(options: SlowAnswersOptions) {
    this.#options = options
  }

  /** Notes that the answer has to wait for its client. */
  add(answer: WaitingAnswer): void {
    const { clock } = this.#options
    this.#waiting.set(answer, clock.monotonicMs())
    this.#timer ??= clock.after(LOOK_MS, () => this.#look())
  }

  /** Notes that the client has the whole answer, or is gone. */
  delete(answer: WaitingAnswer): void {
    this.#waiting.delete(answer)
  }

  #look(): void {
    const { clock, limitBytes, onBreakOff, onLook } = this.#options
    const slow = this.#slowest()
    let heldBytes = slow.reduce((sum, { heldBytes }) => sum + heldBytes, 0)
    for (const answer of slow) {
      if (heldBytes <= limitBytes) break
      heldBytes -= answer.heldBytes
      this.#waiting.delete(answer)
      onBreakOff(answer)
      answer.breakOff()
    }
    onLook(heldBytes)
    this.#timer = this.#waiting.size === 0 ? undefined : clock.after(LOOK_MS, () => this.#look())
  }

  /** The answers to slow clients, the slowest first. */
  #slowest(): WaitingAnswer[] {
    const nowMs = this.#options.clock.monotonicMs()
    const slow: { readonly answer: WaitingAnswer; readonly bytesASecond: number }[] = []
    for (const [answer, sinceMs] of this.#waiting) {
      const waitedMs = nowMs - sinceMs
      if (waitedMs < LOOK_MS) continue
      const bytesASecond = (answer.takenBytes() * 1000) / waitedMs
      if (bytesASecond < SLOW_BYTES_A_SECOND) slow.push({ answer, bytesASecond })
    }
    return slow.sort((a, b) => a.bytesASecond - b.bytesASecond).map(({ answer }) => answer)
  }
}
