import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const SECRETS = '/api/v1/namespaces/default/secrets'
interface Event {
  level: string
  stage: string
  auditID: string
  verb: string
  requestURI: string
  user: { username: string }
  impersonatedUser?: { username: string }
  objectRef?: object
  responseStatus?: { code: number; message?: string; reason?: string }
  requestObject?: { data?: object }
  responseObject?: { kind?: string; metadata?: { managedFields?: unknown } }
  annotations?: Record<string, string>
}

const folder = temporaryFolder(t, 'audit')
const file = (name: string, text: string): string => {
  writeFileSync(path.join(folder, name), text)
  return path.join(folder, name)
}
const tokens = file('tokens.csv', 'admin,admin,admin-uid,"system:masters"\nnobody,nobody,,""\n')
const policy = file(
  'policy.yaml',
  `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  nonResourceURLs: ['/readyz*', '/metrics']
- level: Metadata
  resources: [{ group: '', resources: [secrets] }]
- level: RequestResponse
  resources: [{ group: '', resources: [configmaps] }]
- level: Metadata
  omitStages: []
`,
)
const received: Event[] = []
const webhook = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    received.push(...(JSON.parse(Buffer.concat(chunks).toString()) as { items: Event[] }).items)
    response.end()
  })
})
await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
t.teardown(() => webhook.close())
const kubeconfig = file(
  'webhook.yaml',
  `apiVersion: v1
kind: Config
clusters: [{ name: w, cluster: { server: 'http://127.0.0.1:${(webhook.address() as AddressInfo).port}/audit' } }]
`,
)
const log = path.join(folder, 'audit.log')
const server = await KeelsonProcess.start([
  `--token-auth-file=${tokens}`,
  `--audit-policy-file=${policy}`,
  `--audit-log-path=${log}`,
  `--audit-webhook-config-file=${kubeconfig}`,
])
t.teardown(() => server.close())
const as = (token: string) => ({ authorization: `Bearer ${token}` })
const ids: Record<string, string> = {}

t.test('what the policy wants is recorded, and not more', async (t) => {
  const send = async (name: string, method: string, url: string, body?: object, token = 'admin') => {
    const { status, headers } = await server.request(method, url, body, as(token))
    ids[name] = headers.get('audit-id') ?? ''
    return status
  }
  t.equal(await send('create', 'POST', CONFIGMAPS, { metadata: { name: 'c' }, data: { k: 'v' } }), 201)
  t.equal(await send('get', 'GET', `${CONFIGMAPS}/c`), 200)
  t.equal(await send('list', 'GET', `${CONFIGMAPS}?limit=5`), 200)
  t.equal(await send('secret', 'POST', SECRETS, { metadata: { name: 's' }, stringData: { password: 'hush' } }), 201)
  t.equal(await send('readSecret', 'GET', `${SECRETS}/s`), 200)
  t.equal(await send('missing', 'GET', `${CONFIGMAPS}/none`), 404)
  t.equal(await send('denied', 'GET', `${CONFIGMAPS}/c`, undefined, 'nobody'), 403)
  t.equal(await send('unknown', 'GET', `${CONFIGMAPS}/c`, undefined, 'wrong'), 401)
  t.equal(await send('version', 'GET', '/version'), 200)
  const labels = {
    'pod-security.kubernetes.io/enforce': 'baseline',
    'pod-security.kubernetes.io/audit': 'restricted',
  }
  t.equal(await send('namespace', 'POST', '/api/v1/namespaces', { metadata: { name: 'safe', labels } }), 201)
  const templates = '/api/v1/namespaces/safe/podtemplates'
  const container = { name: 'c', image: 'i', securityContext: { privileged: true } }
  const spec = { containers: [container] }
  t.equal(await send('noted', 'POST', templates, { metadata: { name: 't' }, template: { spec } }), 201)
  const account = '/api/v1/namespaces/safe/serviceaccounts'
  t.equal(await send('account', 'POST', account, { metadata: { name: 'default' } }), 201)
  t.equal(await send('refused', 'POST', '/api/v1/namespaces/safe/pods', { metadata: { name: 'p' }, spec }), 403)
  const acting = await server.request('GET', `${CONFIGMAPS}/c`, undefined, {
    ...as('admin'),
    'impersonate-user': 'carol',
  })
  ids['acting'] = acting.headers.get('audit-id') ?? ''
  const mayNot = await server.request('GET', `${CONFIGMAPS}/c`, undefined, {
    ...as('nobody'),
    'impersonate-user': 'admin',
  })
  ids['mayNot'] = mayNot.headers.get('audit-id') ?? ''
  t.equal(mayNot.status, 403)
  t.equal(await send('ready', 'GET', '/readyz'), 200)
  const watching = new AbortController()
  const watch = await fetch(`${server.url}${CONFIGMAPS}?watch=1&resourceVersion=0`, {
    headers: as('admin'),
    signal: watching.signal,
  })
  await watch.body!.getReader().read()
  watching.abort()
  // A request after it: the watch has ended for the server too.
  await send('last', 'DELETE', `${CONFIGMAPS}/c`)
  t.equal(await server.stop(), 0)
  const text = readFileSync(log, 'utf8')
  const events = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Event)
  const of = (name: string) => events.filter(({ auditID }) => auditID === ids[name])
  t.match(of('create'), [
    {
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      stage: 'ResponseComplete',
      verb: 'create',
      requestURI: CONFIGMAPS,
      user: { username: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'] },
      sourceIPs: ['127.0.0.1'],
      objectRef: { resource: 'configmaps', namespace: 'default', apiVersion: 'v1' },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: { data: { k: 'v' } },
      responseObject: { kind: 'ConfigMap', data: { k: 'v' } },
      requestReceivedTimestamp: /^\d{4}-.*\.\d{6}Z$/,
      annotations: { 'authorization.k8s.io/decision': 'allow' },
    },
  ])
  t.match(of('noted').at(-1)?.annotations, {
    'authorization.k8s.io/decision': 'allow',
    'pod-security.kubernetes.io/audit-violations': /^would violate PodSecurity "restricted:latest": /,
  })
  t.match(of('refused').at(-1)?.annotations, {
    'pod-security.kubernetes.io/audit-violations': /restricted/,
    'pod-security.kubernetes.io/enforce-policy': 'baseline:latest',
  })
  t.notOk(text.includes('managedFields'))
  t.equal(of('get')[0]?.responseObject?.kind, 'ConfigMap')
  t.equal(of('list')[0]?.responseObject?.kind, 'ConfigMapList')
  t.match(of('secret'), [{ level: 'Metadata', responseStatus: { code: 201 } }])
  t.notOk(/hush|aHVzaA/.test(text), 'secrets stay secret')
  t.match(of('missing'), [{ responseStatus: { code: 404, reason: 'NotFound', message: /not found/ } }])
  t.match(of('denied'), [{ responseStatus: { code: 403 }, annotations: { 'authorization.k8s.io/decision': 'forbid' } }])
  t.match(of('unknown'), [
    {
      stage: 'ResponseStarted',
      user: { username: '' },
      sourceIPs: ['127.0.0.1'],
      responseStatus: { code: 401, message: 'Authentication failed, attempted: bearer' },
    },
  ])
  t.same(
    of('version').map(({ stage }) => stage),
    ['ResponseComplete'],
  )
  t.same(of('ready'), [])
  t.match(of('acting'), [{ user: { username: 'admin' }, impersonatedUser: { username: 'carol' } }])
  t.match(of('mayNot'), [{ user: { username: 'nobody' }, responseStatus: { code: 403 } }], 'who tries is recorded too')
  t.same(
    events.filter(({ verb }) => verb === 'watch').map(({ stage }) => stage),
    ['ResponseStarted', 'ResponseComplete'],
  )
  t.same(
    received.map(({ auditID, stage }) => `${auditID} ${stage}`).sort(),
    events.map(({ auditID, stage }) => `${auditID} ${stage}`).sort(),
    'the webhook has heard of all of them, also of those that waited for their batch when the server stopped',
  )
})

t.test('blocking-strict: what cannot be recorded is not done', async (t) => {
  const strict = await KeelsonProcess.start([
    `--token-auth-file=${tokens}`,
    `--audit-policy-file=${file('all.yaml', 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n')}`,
    `--audit-log-path=${folder}`,
    '--audit-log-mode=blocking-strict',
  ])
  t.teardown(() => strict.close())
  const { status, json } = await strict.request('POST', CONFIGMAPS, { metadata: { name: 'x' } }, as('admin'))
  t.equal(status, 500)
  t.match(json, { message: /failed to store audit event/ })
})
