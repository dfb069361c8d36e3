/** The server spoken to in protobuf alone: bodies, answers, errors and watches, and JSON beside it. */
import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { Catalogue } from '#keelson/api/catalogue.js'
import { parseGroupVersion } from '#keelson/api/group-version.js'
import type { KubeObject } from '#keelson/api/object.js'
import { decodeProtobuf, encodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import type { StructSchema } from '#keelson/api/schema.js'
import { Random } from '../support/fuzz.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { field, message } from '../support/wire-reader.js'

const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const schemas = new BuiltinSchemas()
const lookup = (apiVersion: string, kind: string): StructSchema | undefined => {
  const { group, version } = parseGroupVersion(apiVersion)!
  return schemas.kind(group, version, kind)
}
const encode = (object: KubeObject): Buffer => encodeProtobuf(object, lookup(object.apiVersion!, object.kind!)!)
const decode = (bytes: Uint8Array): KubeObject => decodeProtobuf(bytes, lookup).object

interface Reply {
  readonly status: number
  readonly contentType: string | null
  readonly bytes: Buffer
}

async function request(
  server: KeelsonProcess,
  method: string,
  path: string,
  { accept = PROTOBUF, body }: { accept?: string; body?: Uint8Array } = {},
): Promise<Reply> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { accept, ...(body === undefined ? {} : { 'content-type': PROTOBUF }) },
    ...(body === undefined ? {} : { body: new Uint8Array(body) }),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, contentType: response.headers.get('content-type'), bytes }
}

const configMap = (name: string): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name },
  data: { k: 'v' },
  binaryData: { b: 'AAEC' },
})

async function life(t: Test, server: KeelsonProcess): Promise<void> {
  const created = await request(server, 'POST', CONFIGMAPS, { body: encode(configMap('a')) })
  t.match(created, { status: 201, contentType: PROTOBUF })
  const object = decode(created.bytes)
  t.match(object, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, binaryData: { b: 'AAEC' } })
  const shown = await request(server, 'GET', `${CONFIGMAPS}/a`, { accept: 'application/json' })
  t.same(JSON.parse(shown.bytes.toString()), object, 'what JSON shows is the same')
  t.same(decode((await request(server, 'GET', `${CONFIGMAPS}/a`)).bytes), object)
  const updated = await request(server, 'PUT', `${CONFIGMAPS}/a`, {
    body: encode({ ...object, data: {} }),
  })
  t.equal(updated.status, 200)
  t.notOk('data' in decode(updated.bytes))
  const list = decode((await request(server, 'GET', CONFIGMAPS)).bytes)
  t.match(list, { kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] })
  const options = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: 'of another' } }
  const kept = await request(server, 'DELETE', `${CONFIGMAPS}/a`, { body: encode(options) })
  t.match(decode(kept.bytes), { kind: 'Status', reason: 'Conflict' }, 'the options are read')
  const deleted = await request(server, 'DELETE', `${CONFIGMAPS}/a`, {
    body: encode({ kind: 'DeleteOptions', apiVersion: 'v1' }),
  })
  t.match(decode(deleted.bytes), { kind: 'Status', status: 'Success' })
}

async function forms(t: Test, server: KeelsonProcess): Promise<void> {
  const as = (form: string): string => `${PROTOBUF};as=${form};g=meta.k8s.io;v=v1`
  const one = await request(server, 'GET', '/api/v1/namespaces/default', { accept: as('PartialObjectMetadata') })
  t.match(decode(one.bytes), { kind: 'PartialObjectMetadata', metadata: { name: 'default' } })
  const many = await request(server, 'GET', '/api/v1/namespaces', { accept: as('PartialObjectMetadataList') })
  t.equal(decode(many.bytes).kind, 'PartialObjectMetadataList')
  const wrong = await request(server, 'GET', '/api/v1/namespaces', { accept: as('PartialObjectMetadata') })
  t.match(wrong, { status: 406, contentType: 'application/json' }, 'an error has no other form')
  const table = await request(server, 'GET', '/api/v1/namespaces', { accept: `${as('Table')}, application/json` })
  t.equal(table.contentType, 'application/json', 'a Table has none in protobuf')
  const missing = await request(server, 'GET', `${CONFIGMAPS}/nothing`)
  t.match(missing, { status: 404, contentType: PROTOBUF })
  t.match(decode(missing.bytes), { kind: 'Status', reason: 'NotFound', details: { name: 'nothing' }, code: 404 })
}

async function everyResource(t: Test, server: KeelsonProcess): Promise<void> {
  const listed = Catalogue.builtin()
    .servedByDefault()
    .resources.filter(({ verbs, storageVersionHash }) => verbs.includes('list') && storageVersionHash !== undefined)
  for (const { group, version, resource, kind } of listed) {
    const path = `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource}`
    const { status, bytes } = await request(server, 'GET', path)
    t.equal(status, 200, path)
    const shown = await request(server, 'GET', path, { accept: 'application/json' })
    const { metadata: _, ...list } = decode(bytes)
    const { metadata: __, ...expected } = JSON.parse(shown.bytes.toString()) as KubeObject
    // The wire does not tell no items from none.
    t.same({ ...list, items: list['items'] ?? [] }, expected, `${path}: what JSON shows is the same`)
    t.equal(list.kind, `${kind}List`)
  }
}

async function refusals(t: Test, server: KeelsonProcess): Promise<void> {
  const valid = encode(configMap('z'))
  const bodies: [string, Uint8Array][] = [
    ['text', Buffer.from('nonsense')],
    ['nothing but the beginning', valid.subarray(0, 4)],
    ['cut off', valid.subarray(0, 40)],
    ['another kind', encode({ kind: 'Secret', apiVersion: 'v1' })],
    ['a length beyond the end', Buffer.from('k8s\0\x12\xff\xff\xff\xff\x07', 'latin1')],
    ['a number without end', Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(40, 0xff)])],
  ]
  for (const [name, body] of bodies) {
    const { status, bytes } = await request(server, 'POST', CONFIGMAPS, { body, accept: 'application/json' })
    t.equal(status, 400, name)
    t.match(JSON.parse(bytes.toString()), { kind: 'Status', reason: 'BadRequest', message: /.{20}/ })
  }
}

/** Every byte string is an answer below 500, and the server goes on. */
async function nonsense(t: Test, server: KeelsonProcess): Promise<void> {
  const random = new Random(20)
  const valid = encode(configMap('n'))
  const statuses = new Set<number>()
  for (let i = 0; i < 150; i++) {
    const body = Buffer.from(valid)
    for (let n = 0; n < 1 + (i % 4); n++) body[4 + random.below(body.length - 4)] = random.below(256)
    const cut = i % 3 === 0 ? body.subarray(0, random.below(body.length)) : body
    const { status } = await request(server, 'POST', `${CONFIGMAPS}?dryRun=All`, { body: cut })
    statuses.add(status)
  }
  t.ok(
    [...statuses].every((status) => status < 500),
    [...statuses].join(' '),
  )
  t.ok(statuses.has(400))
  const deep = await request(server, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    body: nestedDefinition(5000),
    accept: 'application/json',
  })
  t.equal(deep.status, 400, 'messages within messages')
  t.match(deep.bytes.toString(), /nested more than/)
  const huge = Buffer.concat([valid, Buffer.alloc(4 * 1024 * 1024)])
  t.equal((await request(server, 'POST', CONFIGMAPS, { body: huge })).status, 413)
  const patched = await request(server, 'PATCH', `${CONFIGMAPS}/none`, { body: valid })
  t.match(patched, { status: 415, contentType: PROTOBUF }, 'there are no patches in protobuf')
}

/** A definition whose schema is not one that is not one that … */
function nestedDefinition(depth: number): Buffer {
  let bytes: Buffer = Buffer.alloc(0)
  for (let i = 0; i < depth; i++) bytes = field(28, bytes)
  // spec, versions, schema, openAPIV3Schema
  for (const number of [1, 4, 7, 2]) bytes = field(number, bytes)
  const kind = message(field(1, 'apiextensions.k8s.io/v1'), field(2, 'CustomResourceDefinition'))
  return Buffer.concat([Buffer.from('k8s\0'), field(1, kind), field(2, bytes)])
}

async function watches(t: Test, server: KeelsonProcess): Promise<void> {
  const { metadata } = decode((await request(server, 'GET', CONFIGMAPS)).bytes)
  for (const name of ['w1', 'w2']) await request(server, 'POST', CONFIGMAPS, { body: encode(configMap(name)) })
  await request(server, 'DELETE', `${CONFIGMAPS}/w1`)
  const since = `${CONFIGMAPS}?watch=true&resourceVersion=${metadata?.resourceVersion}`
  t.same(await firstEvents(t, server, since, 3), ['ADDED w1', 'ADDED w2', 'DELETED w1'])
  const initial = `${CONFIGMAPS}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan`
  t.same(await firstEvents(t, server, initial, 2), ['ADDED w2', 'BOOKMARK undefined'])
}

/** The first events of a watch, which is then ended. */
async function firstEvents(t: Test, server: KeelsonProcess, path: string, count: number): Promise<string[]> {
  const end = new AbortController()
  const response = await fetch(`${server.url}${path}`, { headers: { accept: PROTOBUF }, signal: end.signal })
  t.equal(response.headers.get('content-type'), `${PROTOBUF};stream=watch`)
  let bytes: Buffer = Buffer.alloc(0)
  let found: string[] = []
  for await (const chunk of response.body!) {
    bytes = Buffer.concat([bytes, chunk as Uint8Array])
    found = events(bytes)
    if (found.length >= count) break
  }
  end.abort()
  return found
}

/** Whole frames taken apart: four bytes of length, then the type and the object as fields 1 and 2. */
function events(bytes: Buffer): string[] {
  const found: string[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) break
    const type = bytes.toString('utf8', at + 6, at + 6 + bytes[at + 5]!)
    const object = decode(bytes.subarray(bytes.indexOf('k8s\0', at), end))
    found.push(`${type} ${object.metadata?.name}`)
    at = end
  }
  return found
}

t.test('a server that is spoken to in protobuf', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  await t.test('an object lives its life', (t) => life(t, server))
  await t.test('metadata, tables and errors come in the form that there is', (t) => forms(t, server))
  await t.test('every stored resource is listed', (t) => everyResource(t, server))
  await t.test('bytes that are no object are a bad request', (t) => refusals(t, server))
  await t.test('no bytes are too much for it', (t) => nonsense(t, server))
  await t.test('a watch is a stream of frames', (t) => watches(t, server))
  const kubectl = (...args: string[]) => spawnSync('kubectl', ['--server', server.url, ...args], { encoding: 'utf8' })
  await t.test('kubectl sends it', { skip: kubectl('version', '--client').status !== 0 }, async (t) => {
    const created = kubectl('create', 'configmap', 'by-kubectl', '--from-literal=a=b')
    t.equal(created.stdout, 'configmap/by-kubectl created\n', created.stderr)
    t.equal(kubectl('get', 'configmap', 'by-kubectl', '-o', 'jsonpath={.data.a}').stdout, 'b')
    t.equal(kubectl('delete', 'configmap', 'by-kubectl').status, 0)
  })
})
