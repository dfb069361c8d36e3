import t from 'tap'
import { AuditPolicy, parseAuditPolicy } from '#keelson/main/audit/audit-policy.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'

const policy = (rules: string): AuditPolicy => {
  const parsed = parseAuditPolicy(`apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}`)
  if ('errors' in parsed) throw new Error(parsed.errors.join('; '))
  return new AuditPolicy(parsed.policy)
}
const who = (name: string, ...groups: string[]) => ({ name, uid: '', groups, extra: {} })
const ask = (method: string, url: string) => {
  const { pathname, searchParams } = new URL(url, 'http://x')
  return resolveRequestInfo(method, pathname, searchParams)
}

t.test('the first rule that matches decides, and nothing is recorded that none matches', async (t) => {
  const rules = policy(`
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  users: [probe]
- level: None
  nonResourceURLs: ['/healthz*', /version]
- level: Metadata
  resources: [{ group: '', resources: [secrets, 'configmaps/*', '*/token'] }]
- level: RequestResponse
  userGroups: [auditors]
  omitStages: [ResponseStarted]
- level: Request
  verbs: [create, update]
  namespaces: [prod]
  omitManagedFields: false
- level: Metadata
  resources: [{ group: apps, resources: [deployments], resourceNames: [web] }]
- level: Request
  resources: [{ group: '*', resources: ['*'] }]
  verbs: [delete]
`)
  const cases: [string, ReturnType<typeof who> | undefined, string, string][] = [
    ['None', who('probe'), 'GET', '/api/v1/namespaces/a/secrets/s'],
    ['None', who('alice'), 'GET', '/healthz/ping'],
    ['None', who('alice'), 'GET', '/version'],
    ['None', who('alice'), 'GET', '/versions'],
    ['Metadata', who('alice'), 'GET', '/api/v1/namespaces/a/secrets/s'],
    ['Metadata', who('alice'), 'POST', '/api/v1/namespaces/a/serviceaccounts/x/token'],
    ['Metadata', who('alice'), 'GET', '/api/v1/namespaces/a/configmaps/c'],
    ['RequestResponse', who('bob', 'auditors'), 'GET', '/api/v1/pods'],
    ['Request', who('alice'), 'POST', '/api/v1/namespaces/prod/pods'],
    ['None', who('alice'), 'POST', '/api/v1/namespaces/dev/pods'],
    ['Metadata', who('alice'), 'GET', '/apis/apps/v1/namespaces/a/deployments/web'],
    ['None', who('alice'), 'GET', '/apis/apps/v1/namespaces/a/deployments/other'],
    ['None', who('alice'), 'GET', '/apis/apps/v1/namespaces/a/deployments/web/status'],
    ['Request', who('alice'), 'DELETE', '/api/v1/namespaces/a/pods/p'],
    ['None', undefined, 'GET', '/api/v1/pods'],
  ]
  for (const [level, user, method, url] of cases)
    t.equal(rules.decide(user, ask(method, url)).level, level, `${user?.name} ${method} ${url}`)
  const auditors = rules.decide(who('bob', 'auditors'), ask('GET', '/api/v1/pods'))
  t.same([...auditors.omitStages], ['RequestReceived', 'ResponseStarted'])
  t.ok(auditors.omitManagedFields)
  t.notOk(rules.decide(who('alice'), ask('POST', '/api/v1/namespaces/prod/pods')).omitManagedFields)
})

t.test('everything that is wrong with a policy is said at once', async (t) => {
  const errors = (text: string) => {
    const parsed = parseAuditPolicy(text)
    return 'errors' in parsed ? parsed.errors : []
  }
  t.match(errors('a: ['), [/./])
  t.match(errors('apiVersion: v1\nkind: Pod'), [/not Policy of audit.k8s.io/, /at least one/])
  const wrong = errors(`
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [Never]
rules:
- level: Everything
- level: Metadata
  omitStages: [Sometimes]
  nonResourceURLs: [version, '/a*b']
  namespaces: [x]
- level: None
  resources: [{ group: apps/v1 }, { group: '', resourceNames: [x] }]
`)
  for (const word of [
    /Everything/,
    /Sometimes/,
    /"version"/,
    /a\*b/,
    /not for both/,
    /apps\/v1/,
    /names need/,
    /Never/,
  ])
    t.ok(
      wrong.some((error) => word.test(error)),
      String(word),
    )
})
