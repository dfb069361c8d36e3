import t, { type Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { field } from '../support/wire-reader.js'

const PODS = '/api/v1/namespaces/default/pods'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const YAML = 'application/yaml'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const PATCHES = [
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/json-patch+json',
]
const APPLY = 'application/apply-patch+yaml'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'
/** Of what is read. */
const MAX_DEPTH = 1000
/** On an idle machine the slowest takes a quarter of it. */
const QUICKLY_MS = 10_000

const server = await KeelsonProcess.start(['--pool-threads=1'])
t.teardown(() => server.close())

interface Sent {
  readonly method?: string
  readonly path: string
  readonly type?: string
  readonly body: string | Buffer
  readonly accept?: string
}

async function send({
  method = 'POST',
  path,
  type = 'application/json',
  body,
  accept = '*/*',
}: Sent): Promise<Response> {
  return fetch(server.url + path, { method, headers: { 'content-type': type, accept }, body })
}

/** A Status that says what the HTTP answer says. */
async function refusal(t: Test, sent: Sent, codes: readonly number[], what: string): Promise<void> {
  const started = performance.now()
  const response = await send(sent)
  const status = (await response.json()) as { kind?: string; code?: number }
  t.ok(codes.includes(response.status), `${what}: ${response.status}`)
  t.match(status, { kind: 'Status', code: response.status }, `${what}: a Status`)
  t.ok(performance.now() - started < QUICKLY_MS, `${what}: quickly`)
}

const many = (item: string, count: number): string => `[${`${item},`.repeat(count - 1)}${item}]`
const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`

/** The envelope of Kubernetes' protobuf around a message. */
function envelope(apiVersion: string, kind: string, message: Buffer): Buffer {
  const typeMeta = Buffer.concat([field(1, Buffer.from(apiVersion)), field(2, Buffer.from(kind))])
  return Buffer.concat([Buffer.from('k8s\0'), field(1, typeMeta), field(2, message)])
}

await send({
  path: PODS,
  body: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"automountServiceAccountToken":false,"containers":[{"name":"c","image":"i"}]}}',
})
await send({
  path: CONFIGMAPS,
  body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"b"}}',
})

t.test('700,000 values in a small body are refused in every format and by every verb', async (t) => {
  const wide = many('{}', 700_000)
  const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w"},"spec":{"containers":${wide}}}`
  const patch = `{"spec":{"containers":${wide}}}`
  const lines = `apiVersion: v1\nkind: Pod\nmetadata: {name: w}\nspec:\n  containers:\n${'  - {}\n'.repeat(400_000)}`
  // 1.4 MB: each container is its tag and a length of 0.
  const spec = Buffer.alloc(1_400_000, Uint8Array.of((2 << 3) | 2, 0))
  const message = Buffer.concat([field(1, field(1, Buffer.from('w'))), field(2, spec)])
  const options = (items: string): string => `{"apiVersion":"v1","kind":"DeleteOptions","dryRun":${items}}`
  const cases: [what: string, sent: Sent][] = [
    ['JSON', { path: PODS, body: pod }],
    ['YAML in one line', { path: PODS, type: YAML, body: pod }],
    ['YAML in lines', { path: PODS, type: YAML, body: lines }],
    ['protobuf', { path: PODS, type: PROTOBUF, body: envelope('v1', 'Pod', message) }],
    ['a dry run', { path: `${PODS}?dryRun=All`, body: pod }],
    ['an update', { method: 'PUT', path: `${PODS}/p`, body: pod }],
    ['a merge patch', { method: 'PATCH', path: `${PODS}/p`, type: PATCHES[0]!, body: patch }],
    ['a strategic merge patch', { method: 'PATCH', path: `${PODS}/p`, type: PATCHES[1]!, body: patch }],
    [
      'a JSON patch with a wide value',
      { method: 'PATCH', path: `${PODS}/p`, type: PATCHES[2]!, body: `[{"op":"add","path":"/x","value":${wide}}]` },
    ],
    ['a JSON patch of many steps', { method: 'PATCH', path: `${PODS}/p`, type: PATCHES[2]!, body: wide }],
    ['an apply', { method: 'PATCH', path: `${PODS}/p?fieldManager=m&force=true`, type: APPLY, body: pod }],
    ['options of a deletion', { method: 'DELETE', path: `${PODS}/p`, body: options(many('""', 700_000)) }],
    ['options of deletions', { method: 'DELETE', path: PODS, body: options(many('""', 700_000)) }],
  ]
  for (const [what, sent] of cases) await refusal(t, sent, [413], what)
  t.equal((await server.request('GET', `${PODS}/p`)).status, 200, 'nothing was done')
})

t.test('what is nested deeply is refused, never an internal error', async (t) => {
  for (const depth of [900, 20_000, 150_000]) {
    const object = nested('{"a":', '}', depth)
    const list = nested('[', ']', depth)
    const inMap = (value: string): string =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"data":${value}}`
    const schema = `${'{"type":"object","properties":{"a":'.repeat(Math.min(depth, 60_000))}{}${'}}'.repeat(Math.min(depth, 60_000))}`
    const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.x.io"},
      "spec":{"group":"x.io","scope":"Namespaced","names":{"plural":"as","kind":"A"},
      "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}]}}`
    const owned = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d","managedFields":[{"manager":"m","operation":"Update",
      "apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${object}}]}}`
    const cases: [what: string, sent: Sent][] = [
      ['an object', { path: CONFIGMAPS, body: inMap(object) }],
      ['a list', { path: CONFIGMAPS, body: inMap(list) }],
      ['an unknown field', { path: CONFIGMAPS, body: `{"apiVersion":"v1","kind":"ConfigMap","x":${list}}` }],
      [
        'an object in YAML',
        { path: CONFIGMAPS, type: YAML, body: `apiVersion: v1\nkind: ConfigMap\ndata: ${object}\n` },
      ],
      ['a list in YAML', { path: CONFIGMAPS, type: YAML, body: `apiVersion: v1\nkind: ConfigMap\ndata: ${list}\n` }],
      ['a schema', { path: DEFINITIONS, body: definition }],
      ['managed fields', { path: CONFIGMAPS, body: owned }],
      ['options', { method: 'DELETE', path: `${CONFIGMAPS}/none`, body: `{"x":${list}}` }],
      ...PATCHES.slice(0, 2).map(
        (type) =>
          [type, { method: 'PATCH', path: `${CONFIGMAPS}/c`, type, body: `{"data":${object}}` }] as [string, Sent],
      ),
      [
        'a value of a JSON patch',
        {
          method: 'PATCH',
          path: `${CONFIGMAPS}/c`,
          type: PATCHES[2]!,
          body: `[{"op":"add","path":"/data/x","value":${object}}]`,
        },
      ],
      [
        'a path of a JSON patch',
        {
          method: 'PATCH',
          path: `${CONFIGMAPS}/c`,
          type: PATCHES[2]!,
          body: `[{"op":"add","path":"${'/a'.repeat(depth)}","value":1}]`,
        },
      ],
    ]
    const apply = {
      method: 'PATCH',
      path: `${CONFIGMAPS}/c?fieldManager=m`,
      type: APPLY,
      body: inMap(object).replace('"d"', '"c"'),
    }
    if (depth >= MAX_DEPTH) cases.push(['an apply', apply])
    // What does not fit its schema is a 500 without a reason there, as in Kubernetes: it must name the field.
    else t.match((await (await send(apply)).json()) as object, { message: '.data.a: expected string' }, 'an apply')
    for (const [what, sent] of cases) {
      // Within the limit of a reader, what comes after it must bear the depth.
      if (depth < MAX_DEPTH) t.ok((await send(sent)).status < 500, `${what}, ${depth} deep`)
      else await refusal(t, sent, [400, 404, 413, 422], `${what}, ${depth} deep`)
    }
  }
  let schema: Buffer = Buffer.alloc(0)
  for (let i = 0; i < 20_000 && schema.length < 1_000_000; i++) schema = field(30, schema)
  const message = field(2, field(7, field(4, field(1, schema))))
  const sent = {
    path: DEFINITIONS,
    type: PROTOBUF,
    body: envelope('apiextensions.k8s.io/v1', 'CustomResourceDefinition', message),
  }
  await refusal(t, sent, [400, 413, 422], 'a schema in protobuf')
})

t.test('a JSON patch that copies what it has copied is refused', async (t) => {
  const copies = Array.from({ length: 40 }, (_, i) => `{"op":"copy","from":"/metadata","path":"/metadata/x${i}"}`)
  const sent = { method: 'PATCH', path: `${CONFIGMAPS}/c`, type: PATCHES[2]!, body: `[${copies}]` }
  await refusal(t, sent, [400, 413, 422], 'copies of copies')
})

t.test('what is never listed has no Table: 406, and nothing is carried out', async (t) => {
  const review = (group: string, kind: string, spec: object): string =>
    JSON.stringify({ apiVersion: `${group}/v1`, kind, metadata: { namespace: 'default' }, spec })
  const authorization = '/apis/authorization.k8s.io/v1'
  const attributes = { user: 'u', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' } }
  const cases: [path: string, body: string][] = [
    [
      `${authorization}/selfsubjectaccessreviews`,
      review('authorization.k8s.io', 'SelfSubjectAccessReview', attributes),
    ],
    [`${authorization}/subjectaccessreviews`, review('authorization.k8s.io', 'SubjectAccessReview', attributes)],
    [
      `${authorization}/namespaces/default/localsubjectaccessreviews`,
      review('authorization.k8s.io', 'LocalSubjectAccessReview', attributes),
    ],
    [
      `${authorization}/selfsubjectrulesreviews`,
      review('authorization.k8s.io', 'SelfSubjectRulesReview', { namespace: 'default' }),
    ],
    ['/apis/authentication.k8s.io/v1/tokenreviews', review('authentication.k8s.io', 'TokenReview', { token: 't' })],
    ['/apis/authentication.k8s.io/v1/selfsubjectreviews', review('authentication.k8s.io', 'SelfSubjectReview', {})],
    [`${PODS}/p/eviction`, '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}'],
    [`${PODS}/p/binding`, '{"apiVersion":"v1","kind":"Binding","metadata":{"name":"p"},"target":{"name":"n"}}'],
  ]
  for (const [path, body] of cases) {
    await refusal(t, { path, body, accept: TABLE }, [406], path)
    const other = await send({ path: `${path}?dryRun=All`, body, accept: `${TABLE},application/json` })
    t.equal(((await other.json()) as { kind: string }).kind === 'Table', false, `${path}: the next form that is there`)
  }
  const made = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"unseen"}}'
  t.equal((await send({ path: CONFIGMAPS, body: made, accept: 'text/html' })).status, 406)
  t.equal((await server.request('GET', `${CONFIGMAPS}/unseen`)).status, 404, 'it was not made')
  t.equal((await send({ path: CONFIGMAPS, body: made, accept: TABLE })).status, 201, 'what is listed has a Table')
  const { spec } = (await server.request('GET', `${PODS}/p`)).json as { spec: { nodeName?: string } }
  t.equal(spec.nodeName, undefined, 'the pod was neither evicted nor bound')
})
