/** Thread: any. What is counted of one webhook that authorizes, by the name that its configuration gives it. */
import { authFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'

export class WebhookMetrics {
  readonly #recorder: Recorder
  readonly #name: string

  constructor(recorder: Recorder, name: string) {
    this.#recorder = recorder
    this.#name = name
  }

  asked(result: 'success' | 'error' | 'timeout', elapsedMs: number): void {
    this.#recorder.series(authFamilies.webhookEvaluations, this.#name, result).add(1)
    this.#recorder.series(authFamilies.webhookDuration, this.#name, result).observe(elapsedMs / 1000)
  }

  /** Nobody could be asked, and the others decide. */
  failedOpen(result: 'error' | 'timeout'): void {
    this.#recorder.series(authFamilies.webhookFailedOpen, this.#name, result).add(1)
  }

  excluded(): void {
    this.#recorder.series(authFamilies.conditionExclusions, 'Webhook', this.#name).add(1)
  }

  conditionFailed(): void {
    this.#recorder.series(authFamilies.conditionErrors, 'Webhook', this.#name).add(1)
  }
}
