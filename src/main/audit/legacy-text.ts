/** Thread: audit. --audit-log-format=legacy: one line of words an event. */
import type { AuditEvent } from '../../protocol/main-audit.js'

const quoted = JSON.stringify

export function legacyText(event: AuditEvent): string {
  const { user, impersonatedUser, objectRef, responseStatus, sourceIPs = [] } = event
  const groups = (list: readonly string[] | undefined, none: string): string =>
    list === undefined || list.length === 0 ? none : list.map((group) => quoted(group)).join(',')
  const fields = {
    id: event.auditID,
    stage: event.stage,
    ip: sourceIPs[0] ?? '<unknown>',
    method: event.verb,
    user: user.username === '' ? '<none>' : user.username,
    groups: groups(user.groups, '<none>'),
    as: impersonatedUser?.username ?? '<self>',
    asgroups: groups(impersonatedUser?.groups, '<lookup>'),
    'user-agent': event.userAgent ?? '',
    namespace: objectRef?.namespace ?? '<none>',
    uri: event.requestURI,
    response: responseStatus === undefined ? '<deferred>' : String(responseStatus['code'] ?? ''),
  }
  const words = Object.entries(fields).map(([name, value]) => `${name}=${quoted(value)}`)
  return `${event.requestReceivedTimestamp} AUDIT: ${words.join(' ')}`
}
