import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { makeCertificate } from '#keelson/main/certificates/certificate.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const WEEK_MS = 7 * 24 * 3600 * 1000
const { certificate, key } = makeCertificate({
  commonName: 'hooks',
  use: 'server',
  hosts: ['127.0.0.1', 'hook.default.svc'],
  notBeforeMs: Date.now() - WEEK_MS,
  notAfterMs: Date.now() + WEEK_MS,
})
const caBundle = Buffer.from(certificate).toString('base64')

interface Request {
  readonly uid: string
  readonly operation: string
  readonly subResource?: string
  readonly kind: { readonly kind: string }
  readonly object: { readonly kind: string; readonly metadata?: { readonly labels?: Record<string, string> } } | null
}
interface Call {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly request: Request
}

let calls: Call[] = []
/** Answers by path, beside `allowed: true`. */
let responses: Record<string, (request: Request) => object> = {}

const hooks = createServer({ cert: certificate, key }, (incoming, outgoing) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    const review = JSON.parse(Buffer.concat(chunks).toString()) as { apiVersion: string; request: Request }
    const { request, apiVersion } = review
    const at = (incoming.url ?? '').split('?', 1)[0]!
    calls.push({ path: incoming.url ?? '', headers: incoming.headers, request })
    const response = { uid: request.uid, allowed: true, ...responses[at]?.(request) }
    outgoing.end(JSON.stringify({ kind: 'AdmissionReview', apiVersion, response }))
  })
}).listen(0, '127.0.0.1')
await once(hooks, 'listening')
t.teardown(() => {
  hooks.closeAllConnections()
  hooks.close()
})
const { port } = hooks.address() as AddressInfo

const folder = temporaryFolder(t, 'admission-webhooks')
const kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  users: [
    { name: `127.0.0.1:${port}`, user: { token: 'for-the-address' } },
    { name: `*.default.svc:${port}`, user: { username: 'name', password: 'secret' } },
  ],
}
writeFileSync(path.join(folder, 'hooks.kubeconfig'), JSON.stringify(kubeconfig))
const plugin = (name: string) => ({
  name,
  configuration: {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'WebhookAdmissionConfiguration',
    kubeConfigFile: path.join(folder, 'hooks.kubeconfig'),
  },
})
writeFileSync(
  path.join(folder, 'admission.yaml'),
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [plugin('ValidatingAdmissionWebhook'), plugin('MutatingAdmissionWebhook')],
  }),
)
const server = await KeelsonProcess.start([
  `--admission-control-config-file=${path.join(folder, 'admission.yaml')}`,
  '--disable-admission-plugins=ServiceAccount',
])
t.teardown(() => server.close())

const GROUP = '/apis/admissionregistration.k8s.io/v1'
const RULE = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }

async function install(kind: 'mutating' | 'validating', name: string, hook: object, rule: object = RULE) {
  const url = `https://127.0.0.1:${port}/${name}`
  return server.request('POST', `${GROUP}/${kind}webhookconfigurations`, {
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        clientConfig: { url, caBundle },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [rule],
        ...hook,
      },
    ],
  })
}

const remove = (kind: 'mutating' | 'validating', name: string) =>
  server.request('DELETE', `${GROUP}/${kind}webhookconfigurations/${name}`)

let made = 0
const create = (metadata: object = {}) =>
  server.request('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: `c-${made++}`, ...metadata } })

t.beforeEach(() => {
  calls = []
  responses = {}
})

t.test('who the server is, by the webhook’s address; how long it waits, in the query', async (t) => {
  t.equal((await install('validating', 'known', { timeoutSeconds: 7 })).status, 201)
  t.equal((await create()).status, 201)
  t.match(calls, [{ path: '/known?timeout=7s', headers: { authorization: 'Bearer for-the-address' } }])
  t.match(calls[0]?.headers, { 'content-type': 'application/json', 'user-agent': 'kube-apiserver-admission' })
  await remove('validating', 'known')
})

t.test('a service is found by its name and trusted by it', async (t) => {
  const service = { name: 'hook', namespace: 'default', port, path: '/by/service' }
  const warned = await install('validating', 'service', { clientConfig: { service, caBundle } })
  t.match(warned.headers.get('warning'), /there is no service default\/hook/)
  const failed = await create()
  t.equal(failed.status, 500)
  t.match(failed.text, /service \\"hook\\" not found/)
  const spec = { type: 'ExternalName', externalName: '127.0.0.1' }
  t.equal(
    (await server.request('POST', '/api/v1/namespaces/default/services', { metadata: { name: 'hook' }, spec })).status,
    201,
  )
  t.equal((await create()).status, 201)
  const basic = Buffer.from('name:secret').toString('base64')
  t.match(calls, [{ path: '/by/service?timeout=10s', headers: { authorization: `Basic ${basic}` } }])
  await remove('validating', 'service')
})

t.test('CONNECT: the webhook sees the options, and refuses before anybody is asked for the pod', async (t) => {
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec'], operations: ['CONNECT'] }
  await install('validating', 'connect', {}, rule)
  responses['/connect'] = () => ({ allowed: false, status: { code: 403, message: 'no shells' } })
  const answer = await server.request('POST', '/api/v1/namespaces/default/pods/nobody/exec?command=sh&stdin=true')
  t.equal(answer.status, 403, answer.text)
  t.match(answer.text, /no shells/)
  t.match(calls[0]?.request, { operation: 'CONNECT', subResource: 'exec', object: { kind: 'PodExecOptions' } })
  await remove('validating', 'connect')
})

t.test('a webhook that is broken can be removed, and repaired', async (t) => {
  await install(
    'validating',
    'broken',
    { clientConfig: { url: 'https://127.0.0.1:1/', caBundle } },
    {
      apiGroups: ['*'],
      apiVersions: ['*'],
      resources: ['*/*'],
      operations: ['*'],
    },
  )
  t.equal((await create()).status, 500)
  t.equal((await remove('validating', 'broken')).status, 200)
  t.equal((await create()).status, 201)
})

t.test('an object that a webhook made worse: doubled owners, managers without sense', async (t) => {
  await install('mutating', 'worse', {})
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' }
  const patch = (value: object[]) => ({
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(value)).toString('base64'),
  })
  responses['/worse'] = () => patch([{ op: 'add', path: '/metadata/ownerReferences', value: [owner, owner] }])
  const doubled = await create()
  t.equal(doubled.status, 201, doubled.text)
  t.match(doubled.headers.get('warning'), /duplicate entries/)
  t.match((doubled.json as { metadata: object }).metadata, { ownerReferences: [owner] })
  const bad = [
    { manager: 'm', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { nonsense: {} } },
  ]
  responses['/worse'] = () => patch([{ op: 'add', path: '/metadata/managedFields', value: bad }])
  const spoiled = await create({ labels: { a: 'b' } })
  t.equal(spoiled.status, 201, spoiled.text)
  t.match(spoiled.headers.get('warning'), /managedFields was in an invalid state after admission/)
  t.match((spoiled.json as { metadata: object }).metadata, { managedFields: [{ operation: 'Update' }] })
  await remove('mutating', 'worse')
})

t.test('what the request’s own time leaves bounds the webhook’s', async (t) => {
  await install('validating', 'short', { timeoutSeconds: 30 })
  t.equal(
    (await server.request('POST', '/api/v1/namespaces/default/configmaps?timeout=9s', { metadata: { name: 'short' } }))
      .status,
    201,
  )
  const [, seconds] = /timeout=(\d+)s/.exec(calls[0]?.path ?? '') ?? []
  t.ok(Number(seconds) <= 9, `${seconds} s of 9`)
  await remove('validating', 'short')
})

t.test('warnings and audit annotations come through; a control character drops a warning', async (t) => {
  await install('validating', 'warning', {})
  responses['/warning'] = () => ({ warnings: ['take care', 'bad\u0007', 'take care'], auditAnnotations: { k: 'v' } })
  const { headers, status } = await create()
  t.equal(status, 201)
  t.equal(headers.get('warning'), '299 - "take care"')
  await remove('validating', 'warning')
})
