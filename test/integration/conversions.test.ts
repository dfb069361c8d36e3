import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { parseGroupVersion } from '#keelson/api/group-version.js'
import { decodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const server = await KeelsonProcess.start()
t.teardown(() => server.close())
const create = async (name: string): Promise<void> => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { k: 'é'.repeat(50) } }
  const { status } = await server.request('POST', CONFIGMAPS, body)
  if (status !== 201) throw new Error(`creating ${name} gave ${status}`)
}
t.before(async () => {
  for (let i = 0; i < 7; i++) await create(`c${i}`)
})

async function bytesOf(path: string, accept: string): Promise<Buffer> {
  const response = await fetch(`${server.url}${path}`, { headers: { accept } })
  t.equal(response.status, 200, `${path} ${accept}`)
  return Buffer.from(await response.arrayBuffer())
}

/** The chunks of a watch, until there are enough. */
async function watch(accept: string, query: string, enough: (text: Buffer) => boolean): Promise<Buffer> {
  const abort = new AbortController()
  const response = await fetch(`${server.url}${CONFIGMAPS}?watch=1&${query}`, {
    headers: { accept },
    signal: abort.signal,
  })
  let text: Buffer = Buffer.alloc(0)
  for await (const chunk of response.body!) {
    text = Buffer.concat([text, chunk as Uint8Array])
    if (enough(text)) break
  }
  abort.abort()
  return text
}

/** They go on between two answers. */
const withoutAges = (bytes: Buffer): Buffer =>
  bytes.includes('"kind":"Table"')
    ? Buffer.from(bytes.toString().replace(/("cells":\[[^\]]*),"\d+m?\d*s"\]/g, '$1,"an age"]'))
    : bytes

// A query with `pretty` is always answered by the pool as a whole.
t.test('objects put together from conversions are what the pool answers as a whole', async (t) => {
  const partial = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
  const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
  // At one revision: the server itself may still write.
  const { metadata } = (await server.request('GET', CONFIGMAPS)).json as { metadata: { resourceVersion: string } }
  const list = `${CONFIGMAPS}?resourceVersionMatch=Exact&resourceVersion=${metadata.resourceVersion}`
  for (const [path, accept] of [
    [list, PROTOBUF],
    [`${list}&limit=3`, PROTOBUF],
    [`${list}&fieldSelector=metadata.name=none`, PROTOBUF],
    [list, partialList],
    [list, `${PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`],
    [`${CONFIGMAPS}/c1`, PROTOBUF],
    [`${CONFIGMAPS}/c1`, partial],
    [`${CONFIGMAPS}/c1`, 'application/yaml'],
    ['/api/v1/namespaces/default', TABLE],
    [`/api/v1/namespaces${list.slice(list.indexOf('?'))}`, TABLE],
    [`/api/v1/namespaces${list.slice(list.indexOf('?'))}&limit=2&includeObject=Object`, TABLE],
    [`/api/v1/namespaces${list.slice(list.indexOf('?'))}&includeObject=None`, TABLE],
    [`${list}&fieldSelector=metadata.name=none`, TABLE],
    [`/apis/autoscaling/v1/horizontalpodautoscalers${list.slice(list.indexOf('?'))}`, TABLE],
    [`/apis/autoscaling/v1/horizontalpodautoscalers${list.slice(list.indexOf('?'))}`, 'application/json'],
  ] as const) {
    const asked = `${path}${path.includes('?') ? '&' : '?'}`
    const converted = withoutAges(await bytesOf(path, accept))
    const whole = withoutAges(await bytesOf(`${asked}pretty=false`, accept))
    if (accept.includes('json'))
      t.same(JSON.parse(converted.toString()), JSON.parse(whole.toString()), `${accept} of ${path}`)
    else t.ok(converted.equals(whole), `${accept} of ${path}`)
    t.ok(withoutAges(await bytesOf(path, accept)).equals(converted), 'and again, from what is hot')
  }
})

t.test('a list as a Table follows what changes, and its ages go on', async (t) => {
  type Row = { cells: (string | number)[]; object: { metadata: { name: string } } }
  const rows = async (): Promise<Map<string, (string | number)[]>> => {
    const { json } = await server.request('GET', CONFIGMAPS, undefined, { accept: `${TABLE},application/json` })
    return new Map((json as { rows: Row[] }).rows.map(({ cells, object }) => [object.metadata.name, cells]))
  }
  const before = await rows()
  t.equal(before.get('c1')![1], 1)
  await server.request('PUT', `${CONFIGMAPS}/c1`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c1' },
    data: { a: '', b: '', c: '' },
  })
  await server.request('DELETE', `${CONFIGMAPS}/c6`)
  const after = await rows()
  t.equal(after.get('c1')![1], 3)
  t.notOk(after.has('c6'))
  t.equal(after.size, before.size - 1)
  const age = after.get('c2')![2]
  await until(async () => (await rows()).get('c2')![2] !== age, { what: 'the age of a row to change' })
  await create('c6')
})

t.test('a form that does not fit one object or a list is refused', async (t) => {
  const list = await server.request('GET', CONFIGMAPS, undefined, {
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  })
  t.equal(list.status, 406)
})

t.test('a page in protobuf goes on where it ended', async (t) => {
  const schemas = new BuiltinSchemas()
  const lookup = (apiVersion: string, kind: string) => {
    const { group, version } = parseGroupVersion(apiVersion)!
    return schemas.kind(group, version, kind)
  }
  const names: string[] = []
  let token = ''
  do {
    const page = await bytesOf(`${CONFIGMAPS}?limit=3&continue=${encodeURIComponent(token)}`, PROTOBUF)
    const { object } = decodeProtobuf(page, lookup)
    const list = object as { items?: { metadata: { name: string } }[]; metadata: { continue?: string } }
    names.push(...(list.items ?? []).map(({ metadata }) => metadata.name))
    token = list.metadata.continue ?? ''
  } while (token !== '')
  t.same(
    names.filter((name) => name.startsWith('c')),
    ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6'],
  )
})

t.test('many watchers of one form see every event, in order', async (t) => {
  const last = (text: Buffer): boolean => text.includes('w9')
  const watchers = Array.from({ length: 30 }, () => watch(PROTOBUF, 'resourceVersion=0', last))
  for (let i = 0; i < 10; i++) await create(`w${i}`)
  const seen = await Promise.all(watchers)
  for (const text of seen) {
    const order = Array.from({ length: 10 }, (_, i) => text.indexOf(`w${i}`))
    t.ok(
      order.every((at, i) => at > (order[i - 1] ?? -1)),
      'in order, none missing',
    )
  }
})

t.test('a watch of a Table shows its columns once', async (t) => {
  const rows = (text: Buffer): string[] =>
    text
      .toString()
      .split('\n')
      .filter((line) => line.trim() !== '')
  const table = watch(
    'application/json;as=Table;g=meta.k8s.io;v=v1',
    'resourceVersion=0',
    (text) => text.includes('"t1"') && text.at(-1) === 10,
  )
  for (const name of ['t0', 't1']) await create(name)
  const events = rows(await table).map(
    (line) => JSON.parse(line) as { object: { columnDefinitions: unknown[] | null; rows: unknown[] } },
  )
  t.ok(events.length > 2)
  t.equal(events[0]!.object.columnDefinitions?.length, 3)
  for (const { object } of events.slice(1)) {
    t.equal(object.columnDefinitions, null)
    t.equal(object.rows.length, 1)
  }
})
