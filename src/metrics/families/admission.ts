/** Thread: any. Metrics of admission plugins and webhooks. */
import { counter, histogram } from './definition.js'

const ADMISSION_SECONDS = [0.005, 0.025, 0.1, 0.5, 1, 2.5]
const EXPRESSION_SECONDS = [0.0000005, 0.001, 0.01, 0.1, 1]
/** A webhook has up to 30 s. */
const WEBHOOK_SECONDS = [...ADMISSION_SECONDS, 10, 25]

export const admissionDefinitions = {
  controllers: histogram(
    'apiserver_admission_controller_admission_duration_seconds',
    'Time that a plugin took.',
    ADMISSION_SECONDS,
    'name',
    'type',
    'operation',
    'rejected',
  ),
  steps: histogram(
    'apiserver_admission_step_admission_duration_seconds',
    'Time that all plugins of a kind took.',
    ADMISSION_SECONDS,
    'type',
    'operation',
    'rejected',
  ),
  webhooks: histogram(
    'apiserver_admission_webhook_admission_duration_seconds',
    'Time that a webhook took.',
    WEBHOOK_SECONDS,
    'name',
    'type',
    'operation',
    'rejected',
  ),
  webhookRequests: counter(
    'apiserver_admission_webhook_request_total',
    'Calls of a webhook, by the status that they ended with.',
    'name',
    'type',
    'operation',
    'code',
    'rejected',
  ),
  webhookRejections: counter(
    'apiserver_admission_webhook_rejection_count',
    'Requests that were refused by a webhook, or because it failed.',
    'name',
    'type',
    'operation',
    'error_type',
    'rejection_code',
  ),
  webhookFailOpen: counter(
    'apiserver_admission_webhook_fail_open_count',
    'Calls of a webhook that failed and were let pass.',
    'name',
    'type',
  ),
  conditionErrors: counter(
    'apiserver_admission_match_condition_evaluation_errors_total',
    'Match conditions that could not be decided.',
    'name',
    'kind',
    'type',
    'operation',
  ),
  conditionSeconds: histogram(
    'apiserver_admission_match_condition_evaluation_seconds',
    'Time that the match conditions of a webhook or policy took.',
    [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
    'name',
    'kind',
    'type',
    'operation',
  ),
  conditionExclusions: counter(
    'apiserver_admission_match_condition_exclusions_total',
    'Requests that match conditions left out.',
    'name',
    'kind',
    'type',
    'operation',
  ),
  validatingChecks: counter(
    'apiserver_validating_admission_policy_check_total',
    'Expressions of validating policies that were false or failed, by what the binding does about it.',
    'policy',
    'policy_binding',
    'error_type',
    'enforcement_action',
  ),
  validatingCheckSeconds: histogram(
    'apiserver_validating_admission_policy_check_duration_seconds',
    'Time that such an expression took.',
    EXPRESSION_SECONDS,
    'policy',
    'policy_binding',
    'error_type',
    'enforcement_action',
  ),
  mutatingChecks: counter(
    'apiserver_mutating_admission_policy_check_total',
    'Mutations of mutating policies, by how they ended.',
    'policy',
    'policy_binding',
    'error_type',
  ),
  mutatingCheckSeconds: histogram(
    'apiserver_mutating_admission_policy_check_duration_seconds',
    'Time that a mutation took.',
    EXPRESSION_SECONDS,
    'policy',
    'policy_binding',
    'error_type',
  ),
}
