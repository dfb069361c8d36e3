/** Thread: pool. The metrics of webhooks: how long they take, what they answer, whom they refuse, which fail open. */
import { admissionFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import { ConditionMetrics } from '../expressions/condition-metrics.js'

export type WebhookStep = 'admit' | 'validating'

/** Larger codes count as this one, so that a webhook cannot make series without end. */
const MAX_CODE = 600

export class WebhookMetrics {
  readonly conditions: ConditionMetrics
  readonly #recorder: Recorder
  readonly #step: WebhookStep

  constructor(recorder: Recorder, step: WebhookStep) {
    this.#recorder = recorder
    this.#step = step
    this.conditions = new ConditionMetrics(recorder, 'webhook', step === 'admit' ? 'admit' : 'validate')
  }

  called(name: string, operation: string, durationMs: number, rejected: boolean, code: number): void {
    const labels = [name, this.#step, operation] as const
    const seconds = this.#recorder.series(admissionFamilies.webhooks, ...labels, String(rejected))
    seconds.observe(durationMs / 1000)
    this.#recorder.series(admissionFamilies.webhookRequests, ...labels, codeText(code), String(rejected)).add(1)
  }

  rejected(name: string, operation: string, errorType: string, code: number): void {
    const { webhookRejections } = admissionFamilies
    this.#recorder.series(webhookRejections, name, this.#step, operation, errorType, codeText(code)).add(1)
  }

  failedOpen(name: string): void {
    this.#recorder.series(admissionFamilies.webhookFailOpen, name, this.#step).add(1)
  }
}

const codeText = (code: number): string => String(Math.min(code, MAX_CODE))
