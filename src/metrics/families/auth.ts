/** Thread: any. Metrics of authentication and authorization. */
import { counter, exponential, histogram } from './definition.js'

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
  decisions: counter(
    'apiserver_authorization_decisions_total',
    'Requests that an authorizer allowed or denied.',
    'type',
    'name',
    'decision',
  ),
  authorizations: counter('authorization_attempts_total', 'Authorizations by result.', 'result'),
  authorizationDuration: histogram(
    'authorization_duration_seconds',
    'Time that authorization took.',
    exponential(0.001, 2, 15),
    'result',
  ),
}
