import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import https from 'node:https'
import path from 'node:path'
import t from 'tap'
import { issuerOf, makeCertificate } from '#keelson/main/certificates/certificate.js'
import { freePort } from '../support/free-port.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

/** A second server stands behind the first one, which knows the users and decides what they may. */
const folder = temporaryFolder(t, 'delegation')
const file = (name: string, text: string): string => {
  const where = path.join(folder, name)
  writeFileSync(where, text)
  return where
}
const tokens = file(
  'tokens.csv',
  `boss-token,boss,1,system:masters
behind-token,behind,2,
reader-token,reader,3,
writer-token,writer,4,
`,
)
const life = { notBeforeMs: Date.now() - 60_000, notAfterMs: Date.now() + 3600_000 }
const newAuthority = () => makeCertificate({ commonName: 'authority', use: 'authority', ...life })
const signedBy = ({ certificate, key }: ReturnType<typeof newAuthority>) =>
  issuerOf('authority', key, new X509Certificate(certificate).publicKey)
const authority = newAuthority()
const serving = makeCertificate(
  { commonName: 'behind', use: 'server', hosts: ['behind.default.svc', '127.0.0.1'], ...life },
  signedBy(authority),
)

interface Answer {
  readonly status: number
  readonly text: string
  readonly json: unknown
}

interface Question {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly tls?: { readonly cert: string; readonly key: string }
}

class Caller {
  readonly #url: string
  readonly #ca: string

  constructor(url: string, ca: string) {
    this.#url = url
    this.#ca = ca
  }

  open(
    method: string,
    pathAndQuery: string,
    { token, body, headers = {}, tls }: Question = {},
  ): Promise<IncomingMessage> {
    const sent = {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }
    return new Promise((resolve, reject) => {
      const options = { method, headers: sent, ca: this.#ca, agent: false as const, ...tls }
      const request = https.request(`${this.#url}${pathAndQuery}`, options, resolve)
      request.once('error', reject)
      request.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  async send(method: string, pathAndQuery: string, question: Question = {}): Promise<Answer> {
    const answer = await this.open(method, pathAndQuery, question)
    const chunks: Buffer[] = []
    for await (const chunk of answer) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    return { status: answer.statusCode ?? 0, text, json: text.startsWith('{') ? JSON.parse(text) : undefined }
  }
}

const BOSS = 'boss-token'
const READER = 'reader-token'
const WRITER = 'writer-token'
const GROUP = 'behind.example.com'
const WIDGETS = `/apis/${GROUP}/v1/namespaces/default/widgets`
const API_SERVICE = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${GROUP}`

const first = await KeelsonProcess.start(
  [`--token-auth-file=${tokens}`, '--controllers=namespace,garbagecollector'],
  undefined,
  { tls: true },
)
t.teardown(() => first.close())
const front = new Caller(first.url, readFileSync(path.join(first.certDir, 'ca.crt'), 'utf8'))
const create = async (where: string, body: unknown): Promise<void> => {
  const { status, text } = await front.send('POST', where, { token: BOSS, body })
  if (status !== 201) throw new Error(`${where}: ${status} ${text}`)
}

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const subject = (name: string) => [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }]
const roleRef = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })
await create(`${RBAC}/clusterrolebindings`, {
  metadata: { name: 'behind' },
  roleRef: roleRef('ClusterRole', 'system:auth-delegator'),
  subjects: subject('behind'),
})
await create(`${RBAC}/namespaces/kube-system/rolebindings`, {
  metadata: { name: 'behind' },
  roleRef: roleRef('Role', 'extension-apiserver-authentication-reader'),
  subjects: subject('behind'),
})
for (const [name, verbs] of [
  ['reader', ['get', 'list', 'watch']],
  ['writer', ['get', 'create']],
] as const) {
  await create(`${RBAC}/namespaces/default/roles`, {
    metadata: { name },
    rules: [{ apiGroups: [GROUP], resources: ['widgets'], verbs }],
  })
  await create(`${RBAC}/namespaces/default/rolebindings`, {
    metadata: { name },
    roleRef: roleRef('Role', name),
    subjects: subject(name),
  })
}

const kubeconfig = file(
  'behind.kubeconfig',
  JSON.stringify({
    clusters: [
      { name: 'first', cluster: { server: first.url, 'certificate-authority': path.join(first.certDir, 'ca.crt') } },
    ],
    users: [{ name: 'behind', user: { tokenFile: file('behind.token', 'behind-token\n') } }],
    contexts: [{ name: 'first', context: { cluster: 'first', user: 'behind' } }],
    'current-context': 'first',
  }),
)
const port = await freePort()
const startSecond = (dataDir?: string): Promise<KeelsonProcess> =>
  KeelsonProcess.start(
    [
      `--secure-port=${port}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--authorization-webhook-cache-unauthorized-ttl=0s',
      '--disable-admission-plugins=NamespaceLifecycle',
      `--tls-cert-file=${file('behind.crt', serving.certificate)}`,
      `--tls-private-key-file=${file('behind.key', serving.key)}`,
    ],
    dataDir,
    { tls: true },
  )
let second = await startSecond()
t.teardown(() => second.close())
const back = new Caller(second.url, authority.certificate)

t.test('the second server knows whom the first one knows, and lets them do what the first one allows', async (t) => {
  const definition = {
    metadata: { name: `widgets.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }
  const where = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  t.equal((await back.send('POST', where, { token: READER, body: definition })).status, 403, 'a user without the right')
  t.equal((await back.send('POST', where, { token: BOSS, body: definition })).status, 201, 'an admin of the first')
  await until(async () => (await back.send('GET', WIDGETS, { token: READER })).status === 200, { what: 'widgets' })
  t.equal((await back.send('GET', WIDGETS, { token: 'unknown' })).status, 401)
  t.equal((await back.send('GET', WIDGETS)).status, 403, 'anonymous')
  t.equal((await back.send('GET', '/healthz')).status, 200, 'health is for everybody')
  const claimed = await back.send('GET', WIDGETS, {
    headers: { 'x-remote-user': 'boss', 'x-remote-group': 'system:masters' },
  })
  t.equal(claimed.status, 403, 'headers of somebody who is no proxy mean nothing')
})

interface Condition {
  readonly type: string
  readonly status: string
}
const isAvailable = async (): Promise<boolean> => {
  const { json } = await front.send('GET', API_SERVICE, { token: BOSS })
  const { status } = json as { status?: { conditions?: Condition[] } }
  return (status?.conditions ?? []).some((one) => one.type === 'Available' && one.status === 'True')
}
const freshness = async (): Promise<string | undefined> => {
  const { json } = await front.send('GET', '/apis', {
    token: BOSS,
    headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
  })
  const { items } = json as { items: { metadata: { name: string }; versions: { freshness: string }[] }[] }
  return items.find(({ metadata }) => metadata.name === GROUP)?.versions[0]?.freshness
}

t.test(
  'behind the first it serves its group: discovery, create, get, list and watch, by the rules of the first',
  async (t) => {
    await create('/api/v1/namespaces/default/services', {
      metadata: { name: 'behind' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    })
    await create('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: `v1.${GROUP}` },
      spec: {
        group: GROUP,
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 10,
        service: { name: 'behind', namespace: 'default', port },
        caBundle: Buffer.from(authority.certificate).toString('base64'),
      },
    })
    await until(isAvailable, { what: 'the second server to be available' })
    await until(async () => (await freshness()) === 'Current', { what: 'its discovery' })
    t.match((await front.send('GET', `/apis/${GROUP}/v1`, { token: BOSS })).json, { resources: [{ name: 'widgets' }] })
    const watch = await front.open('GET', `${WIDGETS}?watch=true`, { token: READER })
    t.equal(watch.statusCode, 200)
    const body = { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name: 'one' } }
    t.equal((await front.send('POST', WIDGETS, { token: READER, body })).status, 403)
    t.equal((await front.send('POST', WIDGETS, { token: WRITER, body })).status, 201)
    const [event] = (await watch[Symbol.asyncIterator]().next()).value.toString().split('\n') as [string]
    t.match(JSON.parse(event), { type: 'ADDED', object: { metadata: { name: 'one' } } })
    watch.destroy()
    t.match((await front.send('GET', `${WIDGETS}/one`, { token: READER })).json, { kind: 'Widget' })
    t.match((await front.send('GET', WIDGETS, { token: READER })).json, { items: [{ metadata: { name: 'one' } }] })
    t.equal((await front.send('GET', WIDGETS, { token: WRITER })).status, 403, 'who may not list may not there')
  },
)

const isGone = async (where: string): Promise<boolean> =>
  (await front.send('GET', where, { token: BOSS })).status === 404
const NAMESPACES = '/api/v1/namespaces'
const widget = (name: string) => ({ apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name } })

t.test('a namespace of the first goes with what the second holds in it', async (t) => {
  await create(NAMESPACES, { metadata: { name: 'doomed' } })
  const doomed = WIDGETS.replace('default', 'doomed')
  for (const name of ['a', 'b']) await create(doomed, widget(name))
  t.equal((await front.send('DELETE', `${NAMESPACES}/doomed`, { token: BOSS })).status, 200)
  await until(() => isGone(`${NAMESPACES}/doomed`), { what: 'the namespace to go' })
  t.same(((await back.send('GET', doomed, { token: BOSS })).json as { items: unknown[] }).items, [])
  t.equal((await front.send('GET', `${WIDGETS}/one`, { token: READER })).status, 200, 'others stay')
})

t.test(
  'owners in the second are asked for: one that is there keeps what it owns, one that is not does not',
  async (t) => {
    const maps = '/api/v1/namespaces/default/configmaps'
    const { metadata } = (await front.send('GET', `${WIDGETS}/one`, { token: READER })).json as {
      metadata: { uid: string }
    }
    const owner = (uid: string) => [{ apiVersion: `${GROUP}/v1`, kind: 'Widget', name: 'one', uid }]
    await create(maps, { metadata: { name: 'kept', ownerReferences: owner(metadata.uid) } })
    await create(maps, { metadata: { name: 'lost', ownerReferences: owner('another') } })
    await until(() => isGone(`${maps}/lost`), { what: 'what has lost its owner to go' })
    t.notOk(await isGone(`${maps}/kept`))
  },
)

t.test('an authority that the first begins to trust is believed by the second without a restart', async (t) => {
  const proxies = newAuthority()
  const { certificate: cert, key } = makeCertificate(
    { commonName: 'front-proxy-client', use: 'client', ...life },
    signedBy(proxies),
  )
  const asReader = { headers: { 'x-remote-user': 'reader' }, tls: { cert, key } }
  const where = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  const { data } = (await front.send('GET', where, { token: BOSS })).json as { data: Record<string, string> }
  const name = 'requestheader-client-ca-file'
  const body = { data: { [name]: `${data[name]}${proxies.certificate}` } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  t.equal((await front.send('PATCH', where, { token: BOSS, body, headers })).status, 200)
  await until(async () => (await back.send('GET', WIDGETS, asReader).catch(() => ({ status: 0 }))).status === 200, {
    what: 'the proxy to be believed',
  })
})

t.test(
  'its death under load is 503 and stale discovery, nothing else notices, and it comes back with its objects',
  async (t) => {
    const own: number[] = []
    const theirs: number[] = []
    let isLoaded = true
    const load = async (where: string, seen: number[]): Promise<void> => {
      while (isLoaded) seen.push((await front.send('GET', where, { token: where === WIDGETS ? READER : BOSS })).status)
    }
    const loading = [load('/api/v1/namespaces', own), load(WIDGETS, theirs), load(WIDGETS, theirs)]
    await until(() => theirs.length > 5 && own.length > 5, { what: 'the load' })
    const { dataDir } = second
    await second.stop('SIGKILL')
    await until(() => theirs.at(-1) === 503, { what: 'requests to be answered with 503' })
    // The condition is looked at every half minute; writing the APIService anew makes it sooner.
    const looked = { metadata: { annotations: { looked: 'at' } } }
    await front.send('PATCH', API_SERVICE, {
      token: BOSS,
      body: looked,
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await until(async () => !(await isAvailable()) && (await freshness()) === 'Stale', { what: 'stale discovery' })
    await create(NAMESPACES, { metadata: { name: 'stuck' } })
    await front.send('DELETE', `${NAMESPACES}/stuck`, { token: BOSS })
    const discoveryFailure = async (): Promise<(Condition & { message?: string }) | undefined> => {
      const { json } = await front.send('GET', `${NAMESPACES}/stuck`, { token: BOSS })
      const { status } = json as { status?: { conditions?: Condition[] } }
      return (status?.conditions ?? []).find(({ type }) => type === 'NamespaceDeletionDiscoveryFailure')
    }
    await until(async () => (await discoveryFailure())?.status === 'True', {
      what: 'the namespace to say why it waits',
    })
    t.match((await discoveryFailure())?.message, `${GROUP}/v1: stale GroupVersion discovery: ${GROUP}/v1`)
    second = await startSecond(dataDir)
    await until(async () => (await isAvailable()) && (await freshness()) === 'Current', {
      what: 'discovery to be right',
    })
    await until(() => theirs.at(-1) === 200, { what: 'requests to be answered again' })
    await until(() => isGone(`${NAMESPACES}/stuck`), { what: 'the namespace to go after all' })
    isLoaded = false
    await Promise.all(loading)
    t.same([...new Set(own)], [200])
    t.same([...new Set(theirs)].sort(), [200, 503])
    t.match((await front.send('GET', WIDGETS, { token: READER })).json, { items: [{ metadata: { name: 'one' } }] })
  },
)
