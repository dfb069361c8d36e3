import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const server = await KeelsonProcess.start()
t.teardown(() => server.close())

const definition = (plural: string, group: string, schema: object = { type: 'object' }, kind = `K${plural}`) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
})
const collection = (plural: string, group: string): string => `/apis/${group}/v1/namespaces/default/${plural}`
const statusOf = async (method: string, path: string, body?: unknown): Promise<number> =>
  (await server.request(method, path, body)).status
const served = (plural: string, group: string): Promise<void> =>
  until(async () => (await statusOf('GET', collection(plural, group))) === 200, { what: `${plural}.${group} served` })
const gone = (plural: string, group: string): Promise<void> =>
  until(async () => (await statusOf('GET', `${DEFINITIONS}/${plural}.${group}`)) === 404, { what: `${plural} gone` })
/** How many resources have memory of their own. */
const arenas = async (): Promise<number> =>
  (await server.request('GET', '/debug/cache')).text.match(/"resource":/g)?.length ?? 0

t.test('a definition that is called like a built-in resource is not served, and takes nothing over', async (t) => {
  const approved = (plural: string, group: string, kind: string, version: string): object => {
    const made = definition(plural, group, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, kind)
    const [only] = made.spec.versions
    return {
      ...made,
      metadata: {
        ...made.metadata,
        annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/kubernetes/pull/1' },
      },
      spec: { ...made.spec, versions: [{ ...only, name: version }] },
    }
  }
  const cases = [
    ['leases', 'coordination.k8s.io', 'MyLease', 'v9'],
    ['gadgets', 'networking.k8s.io', 'NetworkPolicy', 'v1'],
    ['clusterrolebindings', 'rbac.authorization.k8s.io', 'Binding', 'v1'],
    ['customresourcedefinitions', 'apiextensions.k8s.io', 'Other', 'v9'],
  ] as const
  for (const [plural, group, kind, version] of cases) {
    const name = `${plural}.${group}`
    t.equal(await statusOf('POST', DEFINITIONS, approved(plural, group, kind, version)), 201, name)
    const accepted = async (): Promise<string | undefined> => {
      const { json } = await server.request('GET', `${DEFINITIONS}/${name}`)
      const { status } = json as { status?: { conditions?: { type: string; status: string }[] } }
      return status?.conditions?.find(({ type }) => type === 'NamesAccepted')?.status
    }
    await until(async () => (await accepted()) !== undefined, { what: `the condition of ${name}` })
    t.equal(await accepted(), 'False')
    const forged = (await server.request('GET', `${DEFINITIONS}/${name}`)).json as Record<string, unknown>
    const established = { type: 'Established', status: 'True', reason: 'x', message: '', lastTransitionTime: null }
    await server.request('PUT', `${DEFINITIONS}/${name}/status`, {
      ...forged,
      status: { acceptedNames: { plural, kind }, conditions: [established], storedVersions: [version] },
    })
  }
  const bad = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'x' },
    roleRef: 5,
  }
  t.equal(await statusOf('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', bad), 400)
  const policy = { metadata: { name: 'p' }, spec: { podSelector: {}, nonsense: true } }
  const written = await server.request('POST', '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', policy)
  t.equal(written.status, 201)
  t.notOk(written.text.includes('nonsense'))
  for (const [plural, group] of cases) {
    t.equal(await statusOf('DELETE', `${DEFINITIONS}/${plural}.${group}`), 200)
    await gone(plural, group)
  }
  t.equal(await statusOf('GET', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin'), 200)
  t.equal(await statusOf('GET', '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/p'), 200)
})

t.test('integers beyond 2^53 in a schema', async (t) => {
  const group = 'large.example.com'
  const text = JSON.stringify(
    definition('larges', group, {
      type: 'object',
      properties: { n: { type: 'integer', default: 'N', enum: ['N', 1] } },
    }),
  ).replaceAll('"N"', '9007199254740993')
  t.equal(await statusOf('POST', DEFINITIONS, text), 201)
  await served('larges', group)
  const object = { apiVersion: `${group}/v1`, kind: 'Klarges', metadata: { name: 'a' } }
  const holds = async (method: string, path: string, body?: object): Promise<boolean> =>
    (await server.request(method, path, body)).text.includes('9007199254740993')
  t.ok(await holds('POST', collection('larges', group), object))
  t.ok(await holds('GET', `/openapi/v3/apis/${group}/v1`))
  t.equal((await server.request('GET', '/openapi/v2')).status, 200)
  t.equal(await statusOf('DELETE', `${DEFINITIONS}/larges.${group}`), 200)
  await gone('larges', group)
})

t.test('names that mean something to JavaScript, or to paths', async (t) => {
  const group = 'names.example.com'
  const properties = {
    constructor: { type: 'string' },
    hasOwnProperty: { type: 'integer' },
    toString: { type: 'string' },
  }
  const spec = JSON.parse(
    `{"type":"object","properties":{"__proto__":{"type":"string"},"prototype":{"type":"string"}}}`,
  ) as object
  for (const plural of ['constructor', 'prototype', 'tostring', 'valueof', 'watch', 'proxy', 'api', 'apis', 'v1']) {
    const schema = { type: 'object', properties: { ...properties, spec } }
    t.equal(await statusOf('POST', DEFINITIONS, definition(plural, group, schema, `K${plural}`)), 201, plural)
  }
  await served('constructor', group)
  const body = `{"apiVersion":"${group}/v1","kind":"Kconstructor","metadata":{"name":"constructor","labels":{"__proto__":"x"}},"constructor":"c","toString":"s","spec":{"__proto__":"p","prototype":"q"}}`
  t.equal(await statusOf('POST', collection('constructor', group), body), 422, 'a label cannot begin so')
  const { status, json } = await server.request(
    'POST',
    collection('constructor', group),
    body.replace('"labels":{"__proto__":"x"}', '"labels":{}'),
  )
  t.equal(status, 201)
  const read = (await server.request('GET', `${collection('constructor', group)}/constructor`)).text
  for (const text of ['"__proto__":"p"', '"prototype":"q"', '"constructor":"c"']) t.ok(read.includes(text), text)
  t.ok(json)
  t.equal(({} as Record<string, unknown>)['p'], undefined)
  const document = (await server.request('GET', `/openapi/v3/apis/${group}/v1`)).text
  t.ok(document.includes('"__proto__":{"type":"string"}'), 'it is in the document')
  for (const path of ['watch', 'proxy', 'status', '__proto__', 'hasOwnProperty'])
    t.ok((await statusOf('GET', `/apis/${group}/v1/namespaces/default/${path}/x`)) < 500, path)
})

t.test('definitions made to hurt are refused or served, and hold nobody up', async (t) => {
  const group = 'large.example.com'
  let deep: object = { type: 'string' }
  for (let i = 0; i < 400; i++) deep = { type: 'object', properties: { a: deep } }
  const wide = {
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`field${i}`, { type: 'string' }])),
  }
  const patterns = { type: 'object', properties: { a: { type: 'string', pattern: `^(${'(a+)+|'.repeat(500)}b)$` } } }
  const many = { ...definition('manies', group), spec: { ...definition('manies', group).spec } }
  many.spec.versions = Array.from({ length: 500 }, (_, i) => ({
    ...many.spec.versions[0]!,
    name: `v${i + 1}`,
    storage: i === 0,
  }))
  const slowest = { ms: 0 }
  let isDone = false
  const quiet = (async () => {
    while (!isDone) {
      const started = performance.now()
      t.equal(await statusOf('GET', '/api/v1/namespaces/default'), 200)
      slowest.ms = Math.max(slowest.ms, performance.now() - started)
    }
  })()
  for (const body of [
    definition('deeps', group, deep),
    definition('wides', group, wide),
    definition('patterns', group, patterns),
    many,
  ]) {
    const { status, text } = await server.request('POST', DEFINITIONS, body)
    t.ok(status === 201 || (status >= 400 && status < 500), `${body.metadata.name}: ${status} ${text.slice(0, 100)}`)
  }
  t.equal(
    await statusOf('POST', DEFINITIONS, definition('huges', group, { ...wide, description: 'x'.repeat(4 << 20) })),
    413,
  )
  isDone = true
  await quiet
  t.pass(`the slowest read beside it took ${Math.round(slowest.ms)} ms`)
  const { status } = await server.request('GET', '/openapi/v2')
  t.equal(status, 200)
  // What has been taken is served at some time or not at all: the tests behind this one count what is.
  for (const plural of ['deeps', 'wides', 'patterns', 'manies']) {
    await statusOf('DELETE', `${DEFINITIONS}/${plural}.${group}`)
    await gone(plural, group)
  }
})

t.test('a definition that flaps leaves nothing behind', async (t) => {
  const group = 'flap.example.com'
  const before = await arenas()
  for (let i = 0; i < 15; i++) {
    t.equal(await statusOf('POST', DEFINITIONS, definition('flaps', group)), 201)
    if (i % 3 === 0) {
      await served('flaps', group)
      const object = { apiVersion: `${group}/v1`, kind: 'Kflaps', metadata: { name: 'a' } }
      t.equal(await statusOf('POST', collection('flaps', group), object), 201)
    }
    t.equal(await statusOf('DELETE', `${DEFINITIONS}/flaps.${group}`), 200)
    await gone('flaps', group)
  }
  await until(async () => (await arenas()) <= before, { what: 'memory as it was' })
  t.notMatch((await server.request('GET', '/apis')).text, group)
  t.equal(await statusOf('GET', collection('flaps', group)), 404)
})

t.test('many definitions by many writers come and go', async (t) => {
  const group = (i: number): string => `g${i % 7}.many.example.com`
  const before = await arenas()
  const COUNT = 120
  const each = async (work: (i: number) => Promise<void>): Promise<void> => {
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < COUNT) await work(next++)
    }
    await Promise.all(Array.from({ length: 8 }, lane))
  }
  await each(async (i) => {
    t.equal(await statusOf('POST', DEFINITIONS, definition(`many${i}s`, group(i))), 201)
    await served(`many${i}s`, group(i))
  })
  const { text } = await server.request('GET', '/apis', undefined, {
    accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  })
  for (let i = 0; i < COUNT; i++) if (!text.includes(`"many${i}s"`)) t.fail(`many${i}s is not in discovery`)
  await each(async (i) => {
    t.equal(await statusOf('DELETE', `${DEFINITIONS}/many${i}s.${group(i)}`), 200)
    await gone(`many${i}s`, group(i))
  })
  await until(async () => (await arenas()) <= before, { what: 'memory as it was' })
  t.notMatch((await server.request('GET', '/apis')).text, 'many.example.com')
})
