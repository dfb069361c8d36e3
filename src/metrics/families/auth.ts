/** Thread: any. Metrics of authentication and authorization. */
import { counter, exponential, gauge, histogram } from './definition.js'

export const authDefinitions = {
  users: counter(
    'authenticated_user_requests',
    'Requests by who made them: well-known names, the others together.',
    'username',
  ),
  attempts: counter('authentication_attempts', 'Authentications by result.', 'result'),
  duration: histogram(
    'authentication_duration_seconds',
    'Time that authentication took.',
    exponential(0.001, 2, 15),
    'result',
  ),
  certificateExpiration: histogram(
    'apiserver_client_certificate_expiration_seconds',
    'How long client certificates were still valid.',
    [
      0, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 345_600, 604_800, 2_592_000, 7_776_000, 15_552_000,
      31_104_000,
    ],
  ),
  authenticationReloads: counter(
    'apiserver_authentication_config_controller_automatic_reloads_total',
    'Changes of the file of --authentication-config that were taken (success) or kept out (failure).',
    'status',
    'apiserver_id_hash',
  ),
  authenticationReloadTime: gauge(
    'apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds',
    'When the file of --authentication-config was last taken or kept out.',
    'status',
    'apiserver_id_hash',
  ),
  decisions: counter(
    'apiserver_authorization_decisions_total',
    'Requests that an authorizer allowed or denied.',
    'type',
    'name',
    'decision',
  ),
  authorizationReloads: counter(
    'apiserver_authorization_config_controller_automatic_reloads_total',
    'Changes of the file of --authorization-config that were taken (success) or kept out (failure).',
    'status',
    'apiserver_id_hash',
  ),
  authorizationReloadTime: gauge(
    'apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds',
    'When the file of --authorization-config was last taken or kept out.',
    'status',
    'apiserver_id_hash',
  ),
  webhookEvaluations: counter(
    'apiserver_authorization_webhook_evaluations_total',
    'Questions to a webhook that authorizes, by result.',
    'name',
    'result',
  ),
  webhookDuration: histogram(
    'apiserver_authorization_webhook_duration_seconds',
    'Time that a webhook took to answer, all tries together.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    'name',
    'result',
  ),
  webhookFailedOpen: counter(
    'apiserver_authorization_webhook_evaluations_fail_open_total',
    'Questions that a webhook did not answer and that others decided, because its failure policy is NoOpinion.',
    'name',
    'result',
  ),
  conditionErrors: counter(
    'apiserver_authorization_match_condition_evaluation_errors_total',
    'Requests whose match conditions could not be decided.',
    'type',
    'name',
  ),
  conditionExclusions: counter(
    'apiserver_authorization_match_condition_exclusions_total',
    'Requests that match conditions left out.',
    'type',
    'name',
  ),
  authorizations: counter('authorization_attempts_total', 'Authorizations by result.', 'result'),
  authorizationDuration: histogram(
    'authorization_duration_seconds',
    'Time that authorization took.',
    exponential(0.001, 2, 15),
    'result',
  ),
}
