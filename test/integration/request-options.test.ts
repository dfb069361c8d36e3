import t, { type Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'

interface Answer {
  http: number
  warning: string
  kind?: string
  reason?: string
  data?: Record<string, string>
  items?: unknown[]
  metadata?: { name?: string; resourceVersion?: string; continue?: string; finalizers?: string[] }
  details?: { causes?: { reason?: string; field?: string }[] }
}

const MAPS = '/api/v1/namespaces/default/configmaps'
const MERGE = { 'content-type': 'application/merge-patch+json' }
const JSON_PATCH = { 'content-type': 'application/json-patch+json' }
const STRATEGIC = { 'content-type': 'application/strategic-merge-patch+json' }
const APPLY = { 'content-type': 'application/apply-patch+yaml' }

t.test('what requests may say beside their object', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const answer = await server.request(method, path, body, headers)
    return {
      ...(answer.json as Answer),
      http: answer.status,
      warning: String(answer.headers.get('warning') ?? ''),
    }
  }
  const refused = async (t: Test, http: number, reason: string | undefined, answer: Promise<Answer>): Promise<void> => {
    const { http: status, reason: why } = await answer
    t.same({ status, why }, { status: http, why: reason })
  }
  const cause = (answer: Answer) => answer.details?.causes?.map(({ field, reason }) => `${field} ${reason}`)
  await ask('POST', MAPS, { metadata: { name: 'a' }, data: { x: '1' } })

  await t.test('a number in the query is a number of 64 bits', async (t) => {
    for (const query of ['limit=', 'limit=9223372036854775808', 'timeoutSeconds=', 'limit=1.0'])
      await refused(t, 400, 'BadRequest', ask('GET', `${MAPS}?${query}`))
    t.equal((await ask('GET', `${MAPS}?limit=9223372036854775807`)).http, 200)
    await refused(t, 400, 'BadRequest', ask('DELETE', `${MAPS}/a?gracePeriodSeconds=`))
  })

  await t.test('a boolean in the query is true unless it is 0 or false', async (t) => {
    for (const word of ['0', 'false', 'FALSE', 'False'])
      t.equal((await ask('GET', `${MAPS}?watch=${word}`)).kind, 'ConfigMapList')
    for (const word of ['', 'f', 'no']) {
      const { text } = await server.request('GET', `${MAPS}?watch=${word}&timeoutSeconds=1`)
      t.match(text, /"type":"ADDED"/, word)
    }
  })

  await t.test('a PUT creates what may begin with one', async (t) => {
    const ranges = '/api/v1/namespaces/default/limitranges/put'
    t.equal((await ask('PUT', ranges, { metadata: { name: 'put' }, spec: { limits: [] } })).http, 201)
    const classes = '/apis/node.k8s.io/v1/runtimeclasses/put'
    t.equal((await ask('PUT', classes, { metadata: { name: 'put' }, handler: 'h' })).http, 201)
    await refused(t, 404, 'NotFound', ask('PUT', `${MAPS}/put`, { metadata: { name: 'put' } }))
  })

  await t.test('field selectors name what the resource has under that name', async (t) => {
    const list = (path: string, field: string) =>
      ask('GET', `${path}?fieldSelector=${encodeURIComponent(`${field}=x`)}`)
    const known: [string, string][] = [
      ['/api/v1/pods', 'status.podIPs'],
      ['/api/v1/persistentvolumes', 'metadata.namespace'],
      ['/api/v1/events', 'involvedObject.kind'],
      ['/apis/events.k8s.io/v1/events', 'regarding.kind'],
    ]
    for (const [path, field] of known) t.match(await list(path, field), { http: 200, items: [] }, `${path} ${field}`)
    const unknown: [string, string][] = [
      ['/api/v1/persistentvolumes', 'name'],
      ['/api/v1/nodes', 'metadata.namespace'],
      ['/api/v1/events', 'regarding.kind'],
      ['/apis/events.k8s.io/v1/events', 'involvedObject.kind'],
    ]
    for (const [path, field] of unknown) await refused(t, 400, 'BadRequest', list(path, field))
  })

  await t.test('a continue token of the future is too large, not expired', async (t) => {
    const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: 99_999_999, start: 'a\0' })).toString(
      'base64url',
    )
    await refused(t, 504, 'Timeout', ask('GET', `${MAPS}?limit=1&continue=${token}`))
  })

  await t.test('a watch without initial events starts now when it names no revision', async (t) => {
    const query = 'watch=1&timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan'
    const answer = await server.request('GET', `${MAPS}?${query}`)
    t.equal(answer.status, 200)
    t.equal(answer.text.trim(), '')
  })

  await t.test('options of a deletion are decoded and checked', async (t) => {
    const remove = (query: string, body?: unknown) => ask('DELETE', `${MAPS}/a${query}`, body)
    await refused(t, 400, 'BadRequest', remove('', { gracePeriodSeconds: '5' }))
    await refused(t, 400, 'BadRequest', remove('', { kind: 'Pod', apiVersion: 'v1' }))
    t.same(cause(await remove('?propagationPolicy=')), ['propagationPolicy FieldValueNotSupported'])
    const dry = { kind: 'DeleteOptions', apiVersion: 'example.io/v7', dryRun: ['All'] }
    t.equal((await remove('', dry)).http, 200, 'of any version')
    const ignored = '?dryRun=All&ignoreStoreReadErrorWithClusterBreakingPotential=true'
    t.equal((await remove(ignored)).http, 200, 'a feature that is off means nothing')
    await refused(t, 403, 'Forbidden', ask('DELETE', '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical'))
  })

  await t.test('a field manager can be printed', async (t) => {
    const answer = await ask('PATCH', `${MAPS}/a?fieldManager=a%07b`, {}, MERGE)
    t.same(cause(answer), ['fieldManager FieldValueInvalid'])
  })

  await t.test('a patch cannot make another kind, and is not read when there is nothing to patch', async (t) => {
    const kind = await ask('PATCH', `${MAPS}/a`, { kind: 'Secret' }, MERGE)
    t.same([kind.http, cause(kind)], [422, ['patch FieldValueInvalid']])
    t.match(await ask('PATCH', `${MAPS}/a`, { kind: 'Secret' }, STRATEGIC), { http: 200, kind: 'ConfigMap' })
    await refused(t, 404, 'NotFound', ask('PATCH', `${MAPS}/none`, '{', JSON_PATCH))
    await refused(t, 500, undefined, ask('PATCH', `${MAPS}/a`, { metadata: { resourceVersion: 'abc' } }, MERGE))
    await refused(
      t,
      415,
      'UnsupportedMediaType',
      ask('PATCH', `${MAPS}/a`, {}, { 'content-type': 'Application/Merge-Patch+JSON' }),
    )
  })

  await t.test('keys given twice in a patch are warnings, or errors when strict', async (t) => {
    const twice = '{"data":{"y":"1","y":"2"}}'
    t.match((await ask('PATCH', `${MAPS}/a`, twice, MERGE)).warning, /duplicate field \\"data\.y\\"/)
    t.equal((await ask('PATCH', `${MAPS}/a?fieldValidation=Ignore`, twice, MERGE)).warning, '')
    t.same(cause(await ask('PATCH', `${MAPS}/a?fieldValidation=Strict`, twice, STRATEGIC)), ['patch FieldValueInvalid'])
    const extra = [{ op: 'add', path: '/data/z', value: '1', note: 'x' }]
    t.match((await ask('PATCH', `${MAPS}/a`, extra, JSON_PATCH)).warning, /json patch unknown field \\"\[0\]\.note\\"/)
    const yaml =
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  x: "1"\n  x: "2"\n  y: "1"\n  y: "2"\n'
    const applied = await ask('PATCH', `${MAPS}/b?fieldManager=m`, yaml, APPLY)
    t.equal(applied.http, 201)
    t.equal(applied.warning.split('299').length - 1, 2, 'each of them')
    await refused(t, 400, 'BadRequest', ask('PATCH', `${MAPS}/b?fieldManager=m&fieldValidation=Strict`, yaml, APPLY))
  })

  await t.test(
    'an applied null in a map is the empty value; an applied uid is of an object that is there',
    async (t) => {
      const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } }
      const applied = await ask('PATCH', `${MAPS}/c?fieldManager=m`, { ...config, data: { x: null } }, APPLY)
      t.same(applied.data, { x: '' })
      const metadata = { name: 'd', uid: 'u' }
      await refused(t, 409, 'Conflict', ask('PATCH', `${MAPS}/d?fieldManager=m`, { ...config, metadata }, APPLY))
    },
  )

  await t.test('documents and errors come in the format that is asked for', async (t) => {
    const get = (path: string, accept: string) => server.request('GET', path, undefined, { accept })
    for (const path of ['/api', '/apis', '/apis/apps', '/apis/apps/v1', `${MAPS}/none`]) {
      const yaml = await get(path, 'application/yaml')
      t.equal(yaml.headers.get('content-type'), 'application/yaml', path)
      t.match(yaml.text, /^kind: /m)
      const protobuf = await get(path, 'application/vnd.kubernetes.protobuf')
      t.equal(protobuf.text.slice(0, 3), 'k8s', path)
    }
    const old = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'
    t.equal((await get('/apis', old)).status, 406)
    t.equal((await get('/apis', `${old},application/json`)).status, 200)
    t.equal((await get('/version', 'text/html')).status, 406)
    t.equal((await get('/healthz/', '*/*')).status, 404)
    await refused(t, 405, 'MethodNotAllowed', ask('POST', '/apis/apps/v1'))
    t.equal((await ask('POST', '/apis/apps')).http, 200)
    const missing = await get('/openapi/v3/none', '*/*')
    t.same([missing.status, missing.text.length], [404, 0])
    const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
    await refused(t, 400, 'BadRequest', ask('GET', `${MAPS}?includeObject=Some`, undefined, table))
  })
})
