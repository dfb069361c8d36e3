/** Thread: pool. Counts what conversion webhooks are asked, and how long they take to answer. */
import { conversionFamilies } from './families.js'
import type { Recorder } from './recorder.js'

export class ConversionMetrics {
  readonly #recorder: Recorder

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  /** `failure` is undefined for a review that was answered well. */
  ended(definition: string, from: string, to: string, durationMs: number, failure: string | undefined): void {
    const seconds = durationMs / 1000
    const succeeded = failure === undefined
    const labels = [succeeded ? 'success' : 'failure', failure ?? ''] as const
    this.#recorder.series(conversionFamilies.requests, ...labels).add(1)
    this.#recorder.series(conversionFamilies.seconds, ...labels).observe(seconds)
    this.#recorder.series(conversionFamilies.byDefinition, definition, from, to, String(succeeded)).observe(seconds)
  }
}
