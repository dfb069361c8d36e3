import { connect } from 'node:tls'
import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { testEngineChoice } from '../support/http-engine.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { AccessServer, type Identity } from './access-fixture.js'

/** hunter2, as secrets hold it. */
const HIDDEN = 'aHVudGVyMg'
const SECRETS = '/api/v1/namespaces/a/secrets'
const folder = temporaryFolder(t, 'access-attacks')
const server = await AccessServer.start(folder, [
  'one,one,1',
  'patcher,patcher,2',
  'lister,lister,3',
  'nobody,nobody,4',
  'owner,owner,5',
])
t.teardown(() => server.close())
const as = (token: string): Identity => ({ headers: { authorization: `Bearer ${token}` } })
const [one, patcher, lister, nobody, owner] = ['one', 'patcher', 'lister', 'nobody', 'owner'].map(as) as [
  Identity,
  Identity,
  Identity,
  Identity,
  Identity,
]

/** Node's client refuses words that are no methods of HTTP. */
function sendMethod(method: string): Promise<number> {
  const { cert, key } = server.admin
  return new Promise((resolve, reject) => {
    const port = Number(new URL(server.process.url).port)
    const socket = connect({ host: '127.0.0.1', port, ca: server.file('ca.crt'), cert, key }, () =>
      socket.write(`${method} /api/v1/namespaces/a/pods HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`),
    )
    socket.once('data', (data) => {
      socket.destroy()
      resolve(Number(data.toString().split(' ')[1]))
    })
    socket.once('error', reject)
  })
}

for (const name of ['a', 'b']) await server.make('/api/v1/namespaces', { metadata: { name } })
for (const name of ['only', 'other', 'third'])
  await server.make(SECRETS, { metadata: { name }, stringData: { password: name === 'only' ? 'open' : 'hunter2' } })
for (const name of ['x', 'y'])
  await server.make('/api/v1/namespaces/b/secrets', { metadata: { name }, stringData: { password: 'open' } })
await server.make('/api/v1/namespaces/a/configmaps', { metadata: { name: 'there' } })
await server.make('/api/v1/namespaces/a/serviceaccounts', { metadata: { name: 'robot' } })
await server.role('a', 'one', [
  { apiGroups: [''], resources: ['secrets'], resourceNames: ['only'], verbs: ['get', 'list', 'watch'] },
])
await server.role('a', 'patcher', [
  {
    apiGroups: ['', 'coordination.k8s.io'],
    resources: ['configmaps', 'leases', 'pods/log'],
    verbs: ['get', 'update', 'patch', 'delete'],
  },
])
await server.role('b', 'lister', [
  { apiGroups: [''], resources: ['secrets', 'configmaps'], verbs: ['get', 'list', 'watch', 'create'] },
])
await server.bind('a', 'one', 'Role/one', ['user:one'])
await server.bind('a', 'patcher', 'Role/patcher', ['user:patcher'])
await server.bind('b', 'lister', 'Role/lister', ['user:lister'])
await server.bind('a', 'owner', 'ClusterRole/cluster-admin', ['user:owner'])

t.test('paths and encodings: what is authorized is what is executed', async (t) => {
  const tricks = [
    `${SECRETS}/only/../other`,
    `${SECRETS}/only/%2e%2e/other`,
    `${SECRETS}/only%2f..%2fother`,
    `${SECRETS}/only%2fother`,
    `${SECRETS}/%6fther`,
    `${SECRETS}/o%74her`,
    `${SECRETS}/other/`,
    `${SECRETS}/other//`,
    `${SECRETS}//other`,
    `/${SECRETS}/other`,
    '/api/v1//namespaces/a/secrets/other',
    '/api/v1/namespaces//a/secrets/other',
    '/api//v1/namespaces/a/secrets/other',
    `${SECRETS}/other?name=only`,
    `${SECRETS}/other?fieldSelector=metadata.name%3Donly`,
    `${SECRETS}/other;only`,
    `${SECRETS}/other%00only`,
    `${SECRETS}/only%00other`,
    `${SECRETS}/only%252f..%252fother`,
    `${SECRETS}/only\\..\\other`,
    `${SECRETS}/other#only`,
    '/api/v1/namespaces/a/Secrets/other',
    '/API/v1/namespaces/a/secrets/other',
    '/healthz/../api/v1/namespaces/a/secrets/other',
    '/healthz/%2e%2e/api/v1/namespaces/a/secrets/other',
    '/healthz%2f..%2fapi/v1/namespaces/a/secrets/other',
    '/version/../api/v1/namespaces/a/secrets/other',
    '/api/../api/v1/namespaces/a/secrets/other',
    '/apis//v1/namespaces/a/secrets/other',
    '/apis/core/v1/namespaces/a/secrets/other',
    '/openapi/v3/../../api/v1/namespaces/a/secrets/other',
    '/api/v1/watch/namespaces/a/secrets/other',
    '/api/v1/watch/namespaces/a/secrets',
    '/api/v1/watch/secrets',
    '/api/v1/proxy/namespaces/a/secrets/other',
    '/api/v1/secrets/other?namespace=a',
    '/api/v1/namespaces/a/pods/../secrets/other',
    '/api/v1/namespaces/b/../a/secrets/other',
    '/api/v1/namespaces/a%2fsecrets/other',
    '/api/v1/namespaces/a/secrets%2fother',
    '/api/v1%2fnamespaces/a/secrets/other',
    'http://elsewhere/api/v1/namespaces/a/secrets/other',
  ]
  for (const trick of tricks) {
    for (const who of [one, nobody]) {
      const { status, body } = await server.ask(who, 'GET', trick)
      t.ok(status >= 400, `${trick}: ${status}`)
      t.notMatch(body, HIDDEN, trick)
    }
  }
  t.equal((await server.ask(one, 'GET', `${SECRETS}/onl%79`)).status, 200, 'an encoded letter is that letter, for both')
})

t.test('who owns a namespace owns nothing outside it by a path through it', async (t) => {
  const inside = '/api/v1/namespaces/a'
  t.equal((await server.ask(owner, 'GET', inside)).status, 200)
  t.equal((await server.ask(owner, 'GET', `${inside}/secrets/other`)).status, 200)
  const name = { metadata: { name: 'made' } }
  for (const [method, url, body] of [
    ['GET', `${inside}/namespaces/b`],
    ['GET', `${inside}/namespaces`],
    ['GET', `${inside}/namespaces?watch=1`],
    ['GET', `${inside}/namespaces?fieldSelector=metadata.name%3Da`],
    ['GET', '/api/v1/watch/namespaces/a/namespaces'],
    ['GET', '/api/v1/watch/namespaces/a/namespaces/b'],
    ['GET', `${inside}/namespaces/b/status`],
    ['PUT', `${inside}/namespaces/b/finalize`, { ...name, spec: {} }],
    ['POST', `${inside}/namespaces`, name],
    ['PUT', `${inside}/namespaces/b`, { metadata: { name: 'b', labels: { mine: 'yes' } } }],
    ['PATCH', `${inside}/namespaces/b`, { metadata: { labels: { mine: 'yes' } } }],
    ['DELETE', `${inside}/namespaces/b`],
    ['DELETE', `${inside}/namespaces`],
    ['GET', `${inside}/nodes`],
    ['GET', `${inside}/persistentvolumes`],
    ['POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/a/clusterroles', { ...name, rules: [] }],
    ['POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/a/clusterrolebindings', name],
    ['GET', `${inside}/secrets/other/data/x`],
    ['GET', `${inside}/status/b`],
    ['GET', `${inside}/pods/p/status/x`],
  ] as const) {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }
    const { status } = await server.ask(owner, method, url, body, headers)
    t.ok(status === 404 || status === 405 || status === 403, `${method} ${url}: ${status}`)
  }
  const b = JSON.parse((await server.ask(server.admin, 'GET', '/api/v1/namespaces/b')).body) as KubeObject
  t.match(b.metadata, { deletionTimestamp: undefined, labels: { 'kubernetes.io/metadata.name': 'b', mine: undefined } })
  t.equal((await server.ask(server.admin, 'GET', '/api/v1/namespaces/made')).status, 404)
})

t.test('methods: HEAD, overrides and words that are none', async (t) => {
  for (const [method, url, headers] of [
    ['HEAD', `${SECRETS}/other`, {}],
    ['POST', `${SECRETS}/other`, { 'x-http-method-override': 'GET' }],
    ['POST', `${SECRETS}/other?_method=GET`, {}],
    ['GET', `${SECRETS}/other`, { 'x-http-method-override': 'OPTIONS' }],
    ['OPTIONS', `${SECRETS}/other`, {}],
    ['TRACE', `${SECRETS}/other`, {}],
    ['GET', `${SECRETS}/only`, { 'x-original-url': `${SECRETS}/other`, 'x-rewrite-url': `${SECRETS}/other` }],
  ] as const) {
    const { status, body } = await server.ask(one, method, url, undefined, headers)
    t.notMatch(body, HIDDEN, `${method} ${url}: ${status}`)
    if (!url.endsWith('only')) t.ok(status >= 400, `${method} ${url}: ${status}`)
  }
})

t.test('names that every object of JavaScript has are names like others', async (t) => {
  for (const name of ['constructor', 'toString', '__proto__', 'valueOf', 'hasOwnProperty']) {
    const asked = await sendMethod(name)
    // Node's own parser ends a request whose method is none of HTTP's before anybody sees it.
    t.equal(asked, testEngineChoice().name === 'node' ? 400 : 405, `the method ${name}`)
    const impersonating = { 'impersonate-user': 'nobody' }
    const passed = await server.ask(server.admin, 'GET', `/api/v1/namespaces/a/${name}/x/log`, undefined, impersonating)
    t.equal(passed.status, 403, `the resource ${name}`)
    const post = (url: string, body: object) => server.ask(owner, 'POST', `/api/v1/namespaces/a/${url}`, body)
    t.equal((await post('secrets', { metadata: { name: 's' }, type: name })).status, 201, `the type ${name}`)
    t.equal((await server.ask(owner, 'DELETE', `${SECRETS}/s`)).status, 200)
    const pod = { spec: { containers: [{ name: 'c', image: 'i' }], priorityClassName: name } }
    t.equal((await post('pods', { metadata: { name: 'p' }, ...pod })).status, 403, `the priority class ${name}`)
    const account = { boundObjectRef: { kind: name, apiVersion: 'v1', name: 'x' } }
    t.equal((await post('serviceaccounts/robot/token', { spec: account })).status, 400, `bound to the kind ${name}`)
    const patch = { 'content-type': name }
    const patched = await server.ask(owner, 'PATCH', '/api/v1/namespaces/a/configmaps/there', '{}', patch)
    t.equal(patched.status, 415, `the patch ${name}`)
  }
})

t.test('a selector for one name gives that one and no other', async (t) => {
  const selector = (text: string) => `fieldSelector=${encodeURIComponent(text)}`
  const allowed = await server.ask(one, 'GET', `${SECRETS}?${selector('metadata.name=only')}`)
  t.equal(allowed.status, 200)
  t.equal((JSON.parse(allowed.body) as { items: unknown[] }).items.length, 1)
  for (const query of [
    selector('metadata.name=other'),
    selector('metadata.name!=only'),
    selector('metadata.name=only,metadata.name=other'),
    selector('metadata.name=other,metadata.name=only'),
    selector('metadata.namespace=a'),
    selector(' metadata.name=only'),
    selector('metadata.name=only\\,metadata.name=other'),
    `${selector('metadata.name=only')}&${selector('metadata.name=other')}`,
    `${selector('metadata.name=other')}&${selector('metadata.name=only')}`,
    `${selector('metadata.name=only')}&${selector('')}`,
    `${selector('')}&${selector('metadata.name=only')}`,
    `fieldselector=${encodeURIComponent('metadata.name=only')}`,
    'labelSelector=metadata.name%3Donly',
    'name=only',
    'watch=true',
    'watch=TRUE&fieldSelector=metadata.name!%3Donly',
  ]) {
    const { body } = await server.ask(one, 'GET', `${SECRETS}?${query}`)
    t.notMatch(body, HIDDEN, query)
  }
})

t.test('a secret is no less secret as a table, as metadata, as protobuf or in a stream', async (t) => {
  const forms = [
    'application/json;as=Table;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
    'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    'application/vnd.kubernetes.protobuf',
    'application/yaml',
  ]
  for (const accept of forms)
    for (const url of [
      SECRETS,
      `${SECRETS}/other`,
      `${SECRETS}?watch=1`,
      `${SECRETS}?includeObject=Object`,
      '/api/v1/secrets',
    ])
      for (const who of [one, nobody]) {
        const { status, body } = await server.ask(who, 'GET', url, undefined, { accept })
        t.equal(status, 403, `${accept} ${url}`)
        t.notMatch(body, /third|hunter2|aHVudGVyMg/, `${accept} ${url}`)
      }
  for (const url of [`${SECRETS}/only?watch=true`, `${SECRETS}/only?watch=true&fieldSelector=metadata.name%3Dother`]) {
    const { body } = await server.ask(one, 'GET', url)
    t.notMatch(body, HIDDEN, url)
  }
})

t.test('the rest of somebody else’s list stays theirs', async (t) => {
  const first = await server.ask(server.admin, 'GET', `${SECRETS}?limit=1`)
  const { metadata } = JSON.parse(first.body) as { metadata: { continue: string } }
  const rest = `limit=5&continue=${encodeURIComponent(metadata.continue)}`
  t.match((await server.ask(server.admin, 'GET', `${SECRETS}?${rest}`)).body, HIDDEN, 'the token is good')
  for (const who of [one, nobody, lister]) t.equal((await server.ask(who, 'GET', `${SECRETS}?${rest}`)).status, 403)
  const named = await server.ask(one, 'GET', `${SECRETS}?${rest}&fieldSelector=metadata.name%3Donly`)
  t.notMatch(named.body, HIDDEN, 'with a selector that is allowed, only what it selects')
  const elsewhere = await server.ask(lister, 'GET', `/api/v1/namespaces/b/secrets?${rest}`)
  t.notMatch(elsewhere.body, HIDDEN, 'in another namespace, only what is there')
  const everywhere = await server.ask(server.admin, 'GET', '/api/v1/secrets?limit=1')
  const all = (JSON.parse(everywhere.body) as { metadata: { continue: string } }).metadata.continue
  const mixed = await server.ask(lister, 'GET', `/api/v1/namespaces/b/secrets?continue=${encodeURIComponent(all)}`)
  t.notMatch(mixed.body, HIDDEN, 'nor from a list over all namespaces')
})

t.test('who may change may not thereby create', async (t) => {
  const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: '1' } })
  const apply = (name: string) =>
    server.ask(patcher, 'PATCH', `/api/v1/namespaces/a/configmaps/${name}?fieldManager=m`, configMap(name), {
      'content-type': 'application/apply-patch+yaml',
    })
  t.equal((await apply('there')).status, 200, 'a change by apply')
  const refused = await apply('not-there')
  t.equal(refused.status, 403)
  t.match(JSON.parse(refused.body), {
    message:
      'configmaps "not-there" is forbidden: User "patcher" cannot create resource "configmaps" in API group "" in the namespace "a"',
  })
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} }
  const put = await server.ask(patcher, 'PUT', '/apis/coordination.k8s.io/v1/namespaces/a/leases/l', lease)
  t.equal(put.status, 403, 'an update of a kind that may be created so')
  t.equal((await server.ask(server.admin, 'GET', '/apis/coordination.k8s.io/v1/namespaces/a/leases/l')).status, 404)
  t.equal((await server.ask(patcher, 'DELETE', '/api/v1/namespaces/a/configmaps')).status, 403, 'one is not all')
})

t.test('a body does not lead where the path may not', async (t) => {
  const body = { metadata: { name: 'm', namespace: 'a' }, data: {} }
  t.equal((await server.ask(lister, 'POST', '/api/v1/namespaces/b/configmaps', body)).status, 400)
  t.equal((await server.ask(server.admin, 'GET', '/api/v1/namespaces/a/configmaps/m')).status, 404)
  const renamed = { metadata: { name: 'there', namespace: 'b' } }
  t.equal((await server.ask(patcher, 'PUT', '/api/v1/namespaces/a/configmaps/there', renamed)).status, 400)
  const other = { metadata: { name: 'elsewhere' } }
  t.equal((await server.ask(patcher, 'PUT', '/api/v1/namespaces/a/configmaps/there', other)).status, 400)
  const move = [{ op: 'replace', path: '/metadata/name', value: 'elsewhere' }]
  const headers = { 'content-type': 'application/json-patch+json' }
  t.ok((await server.ask(patcher, 'PATCH', '/api/v1/namespaces/a/configmaps/there', move, headers)).status >= 400)
  const kind = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } }
  t.equal((await server.ask(lister, 'POST', '/api/v1/namespaces/b/configmaps', kind)).status, 400, 'another kind')
})

t.test('tokens of service accounts are for who may make them', async (t) => {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  for (const who of [one, nobody, patcher, lister])
    for (const account of [
      'kube-system/serviceaccounts/default',
      'a/serviceaccounts/default',
      'b/serviceaccounts/default',
    ]) {
      const answer = await server.ask(who, 'POST', `/api/v1/namespaces/${account}/token`, request)
      t.equal(answer.status, 403, account)
      t.notMatch(answer.body, '"token":"')
    }
})

t.test('questions about others are not for everybody, and tell no more than yes or no', async (t) => {
  const url = '/apis/authorization.k8s.io/v1'
  const spec = { user: 'one', resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'a', name: 'only' } }
  t.equal((await server.ask(nobody, 'POST', `${url}/subjectaccessreviews`, { spec })).status, 403)
  const asAdmin = await server.ask(server.admin, 'POST', `${url}/subjectaccessreviews`, { spec })
  t.match(JSON.parse(asAdmin.body), { status: { allowed: true } })
  const self = { spec: { resourceAttributes: spec.resourceAttributes, user: 'one', groups: ['system:masters'] } }
  const own = await server.ask(nobody, 'POST', `${url}/selfsubjectaccessreviews`, self)
  t.match(JSON.parse(own.body), { status: { allowed: false } }, 'who one is is not what one says')
  const local = { metadata: { namespace: 'b' }, spec: { ...spec } }
  const mismatched = await server.ask(server.admin, 'POST', `${url}/namespaces/b/localsubjectaccessreviews`, local)
  t.equal(mismatched.status, 422)
  const rules = await server.ask(one, 'POST', `${url}/selfsubjectrulesreviews`, { spec: { namespace: 'a' } })
  const { status } = JSON.parse(rules.body) as {
    status: { resourceRules: { resourceNames?: string[] }[]; incomplete: boolean }
  }
  t.equal(status.incomplete, false)
  t.ok(status.resourceRules.some(({ resourceNames }) => resourceNames?.includes('only') === true))
})
