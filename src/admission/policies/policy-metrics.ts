/** Thread: pool. The metrics of policies: expressions that were false or failed, mutations, and how long they took. */
import { admissionFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import { OUT_OF_BUDGET } from '../expressions/expression-group.js'
import type { PolicyDecision } from './validating-policy.js'

export type EnforcementAction = 'allow' | 'deny' | 'audit' | 'warn'

export class PolicyMetrics {
  readonly #recorder: Recorder

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  /** A validation that did not simply hold, and what the binding did about it. */
  validated(
    policy: string,
    binding: string,
    decision: Pick<PolicyDecision, 'evaluation' | 'message' | 'elapsedMs'>,
    action: EnforcementAction,
  ): void {
    const type = decision.evaluation === 'admit' ? 'no_error' : errorType(decision.message)
    const labels = [policy, binding, type, action] as const
    this.#recorder.series(admissionFamilies.validatingChecks, ...labels).add(1)
    this.#recorder.series(admissionFamilies.validatingCheckSeconds, ...labels).observe(decision.elapsedMs / 1000)
  }

  /** A mutation; `error` is why it failed, undefined when it did not. */
  mutated(policy: string, binding: string, error: string | undefined, elapsedMs: number): void {
    const labels = [policy, binding, error === undefined ? 'no_error' : errorType(error)] as const
    this.#recorder.series(admissionFamilies.mutatingChecks, ...labels).add(1)
    this.#recorder.series(admissionFamilies.mutatingCheckSeconds, ...labels).observe(elapsedMs / 1000)
  }
}

/** By how the message begins, as Kubernetes tells them apart: a validation that is false counts as invalid too. */
function errorType(message: string): string {
  if (message.startsWith('compilation')) return 'compile_error'
  return message.startsWith(OUT_OF_BUDGET) ? 'out_of_budget' : 'invalid_error'
}
