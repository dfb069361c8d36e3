/** The quiet client's process as the attack holds it. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { AttackedServer } from './attacked-server.js'
import type { Delay } from './machine-delay.js'

export interface Stall extends Delay {
  readonly what: string
  readonly tookMs: number
}

export interface QuietReport {
  /** Milliseconds, the shortest first. */
  readonly latencies: readonly number[]
  /** From the answer of a write to its event. */
  readonly eventLatencies: readonly number[]
  /** Requests of more than a second. */
  readonly stalls: readonly Stall[]
  readonly wrongs: readonly string[]
  readonly wrongCount: number
  /** Answers of 429. */
  readonly refusals: number
  readonly watches: number
  readonly writes: number
  readonly timerLateMs: number
}

/**
 * What a request took that a busy machine does not account for: neither the timer's lateness nor waiting for processors.
 * Where one thread ran for longer than that, this is what it would have taken on an idle machine. A span that waiting for
 * processors has stretched also holds work that came later than the request and that an idle machine would have done after it:
 * of what ran, only the part counts that the span would have been without the waiting.
 */
export const unexplainedMs = ({ tookMs, timerLateMs, unscheduledMs, ranMs }: Stall): number =>
  Math.max(tookMs - timerLateMs - unscheduledMs, Math.min(ranMs, tookMs) * (tookMs / (tookMs + unscheduledMs)))

export class QuietProcess {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  static async start(server: AttackedServer): Promise<QuietProcess> {
    const script = fileURLToPath(new URL('./quiet-client.js', import.meta.url))
    const child = fork(script, [String(server.port), String(server.pid)], { serialization: 'advanced' })
    await once(child, 'message')
    return new QuietProcess(child)
  }

  /** Undefined: it did not come to its end within the time. */
  async finish(withinMs: number): Promise<QuietReport | undefined> {
    const signal = AbortSignal.timeout(withinMs)
    const answer = once(this.#child, 'message', { signal }) as Promise<[QuietReport]>
    this.#child.send('finish')
    try {
      return (await answer)[0]
    } catch {
      this.#child.kill('SIGKILL')
      return undefined
    }
  }
}
