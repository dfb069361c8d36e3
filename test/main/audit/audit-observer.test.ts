import t from 'tap'
import { AuditObserver } from '#keelson/main/audit/audit-observer.js'
import { AuditPolicy, parseAuditPolicy } from '#keelson/main/audit/audit-policy.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import type { ObservedRequest } from '#keelson/main/request/request-observer.js'
import type { AuditItem } from '#keelson/protocol/main-audit.js'
import { FakeClock } from '../../support/fake-clock.js'
import { isLinear } from '../../support/growth.js'

const parsed = parseAuditPolicy('apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]')
if ('errors' in parsed) throw new Error(parsed.errors.join('; '))
const policy = new AuditPolicy(parsed.policy)

function setUp() {
  const items: AuditItem[] = []
  const observer = new AuditObserver({
    policy,
    line: { send: (item) => items.push(item) > 0, write: async () => true },
    clock: new FakeClock(),
    blocking: 'no',
    onEvent: () => undefined,
    onLevel: () => undefined,
    onRejected: () => undefined,
  })
  return { observer, items }
}

/** A request that comes with these headers and is refused by authentication. */
const requestFrom = (headers: Record<string, string>): ObservedRequest =>
  ({
    head: { method: 'GET', path: '/api/v1/pods', rawQuery: '', authorization: '', userAgent: '' },
    credentials: { header: (name: string) => headers[name] ?? '', remoteAddress: () => '10.9.9.9' },
    info: resolveRequestInfo('GET', '/api/v1/pods', new URLSearchParams()),
    tap: () => undefined,
  }) as unknown as ObservedRequest

t.test('a request says which proxies it came through, each once, and only addresses', async (t) => {
  const { observer, items } = setUp()
  const request = requestFrom({ 'x-forwarded-for': '1.2.3.4, nobody,::1 ,1.2.3.4,', 'x-real-ip': '5.6.7.8' })
  observer.onArrival(request)
  observer.onFinished(request, { status: 401, bytes: 0, durationMs: 0 })
  t.match(JSON.stringify(items), '"sourceIPs":["1.2.3.4","::1","5.6.7.8","10.9.9.9"]')
})

t.test('many addresses take no more than their number, before anybody knows who asks', async (t) => {
  const { observer } = setUp()
  const addresses = (count: number): ObservedRequest => {
    const all = Array.from({ length: count }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
    return requestFrom({ 'x-forwarded-for': all.join(',') })
  }
  t.ok(isLinear(20_000, addresses, (request) => observer.onArrival(request)))
})
