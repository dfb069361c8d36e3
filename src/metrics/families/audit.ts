/** Thread: any. Metrics of audit. */
import { counter } from './definition.js'

export const auditDefinitions = {
  events: counter('apiserver_audit_event_total', 'Audit events made.'),
  errors: counter('apiserver_audit_error_total', 'Audit events that could not be written.', 'plugin'),
  level: counter('apiserver_audit_level_total', 'Requests by their level of audit.', 'level'),
  rejected: counter('apiserver_audit_requests_rejected_total', 'Requests refused because audit failed.'),
}
