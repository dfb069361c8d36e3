/** Thread: any. Metrics of conversion webhooks. */
import { counter, exponential, histogram } from './definition.js'

const REVIEW_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60]

export const conversionDefinitions = {
  requests: counter(
    'apiserver_conversion_webhook_request_total',
    'Reviews that conversion webhooks were sent, by how they ended.',
    'result',
    'failure_type',
  ),
  seconds: histogram(
    'apiserver_conversion_webhook_duration_seconds',
    'Time that a conversion webhook took for a review.',
    REVIEW_SECONDS,
    'result',
    'failure_type',
  ),
  byDefinition: histogram(
    'apiserver_crd_conversion_webhook_duration_seconds',
    'Time that a conversion webhook took for a review, by definition and versions.',
    exponential(0.001, 2, 15),
    'crd_name',
    'from_version',
    'to_version',
    'succeeded',
  ),
}
