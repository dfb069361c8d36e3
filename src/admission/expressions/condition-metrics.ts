/** Thread: pool. The metrics of match conditions, of webhooks and of policies. */
import { admissionFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { ConditionVerdict } from './condition-matcher.js'

export class ConditionMetrics {
  readonly #recorder: Recorder
  readonly #kind: 'webhook' | 'policy'
  readonly #type: 'admit' | 'validate'

  constructor(recorder: Recorder, kind: 'webhook' | 'policy', type: 'admit' | 'validate') {
    this.#recorder = recorder
    this.#kind = kind
    this.#type = type
  }

  /** `name` is that of the webhook or policy. */
  decided(name: string, operation: string, { failed, elapsedMs }: ConditionVerdict): void {
    const labels = [name, this.#kind, this.#type, operation] as const
    this.#recorder.series(admissionFamilies.conditionSeconds, ...labels).observe(elapsedMs / 1000)
    if (failed > 0) this.#recorder.series(admissionFamilies.conditionErrors, ...labels).add(failed)
  }

  excluded(name: string, operation: string): void {
    const labels = [name, this.#kind, this.#type, operation] as const
    this.#recorder.series(admissionFamilies.conditionExclusions, ...labels).add(1)
  }
}
