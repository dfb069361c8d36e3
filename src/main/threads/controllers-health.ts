/**
 * Thread: main. The health of the built-in controllers, for the front ends, which are there before the controllers are.
 * It is a check of its own: the server is healthy without its controllers, so no probe of the server depends on them.
 */
import { type Clock, pause } from '../../lib/clock.js'
import type { ControllerHealth } from '../../protocol/main-controllers.js'

/** A controllers thread that does not answer within this time counts as unhealthy. */
const ANSWER_MS = 5_000

export class ControllersHealth {
  readonly #clock: Clock
  #ask: (() => Promise<ControllerHealth>) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Called when the controllers start; until then there is nothing to ask. */
  connect(ask: () => Promise<ControllerHealth>): void {
    this.#ask = ask
  }

  /**
   * The problems, a line for each controller; '' when there are none, when no controllers run, or when another server
   * runs them.
   */
  async problems(): Promise<string> {
    if (this.#ask === undefined) return ''
    const late = pause(this.#clock, ANSWER_MS).then(
      (): ControllerHealth => ({
        controllers: 'their thread does not answer',
      }),
    )
    const asked = this.#ask().catch(
      (error: unknown): ControllerHealth => ({
        controllers: error instanceof Error ? error.message : String(error),
      }),
    )
    const health = await Promise.race([asked, late])
    return Object.entries(health)
      .filter(([, problem]) => problem !== '')
      .map(([name, problem]) => `${name}: ${problem}`)
      .join('\n')
  }
}
