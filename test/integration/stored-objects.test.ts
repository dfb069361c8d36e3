/**
 * Objects as kube-apiserver v1.36 stored them in etcd, with the JSON that it served for each: laid down in a real etcd they
 * are served as it served them, and written by this server they get the same keys and the same bytes.
 */
import { Etcd3 } from 'etcd3'
import t, { type Test } from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { parseGroupVersion } from '#keelson/api/group-version.js'
import { encodeUntyped } from '#keelson/api/json/encode.js'
import { parseJson } from '#keelson/api/json/parse.js'
import type { Json, KubeObject } from '#keelson/api/object.js'
import { decodeProtobuf, encodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import type { StructSchema } from '#keelson/api/schema.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { recordedLines, type StoredObject } from '../support/recordings/recording.js'

const schemas = new BuiltinSchemas()
const lookup = (apiVersion: string, kind: string): StructSchema | undefined => {
  const { group, version } = parseGroupVersion(apiVersion)!
  return schemas.kind(group, version, kind)
}

interface Stored {
  /** Where it is served. */
  readonly path: string
  readonly key: string
  readonly value: Buffer
  /** What was served. */
  readonly text: string
}

const storedObjects = (): Stored[] =>
  recordedLines<StoredObject>('stored-objects.jsonl').map(({ path, key, value, object }) => {
    return { path, key, value: Buffer.from(value, 'base64'), text: object }
  })

/** Integers beyond JavaScript's stay what they are. */
const parse = (text: string): KubeObject => parseJson(Buffer.from(text)).value as KubeObject
const print = (object: KubeObject): string => encodeUntyped(object as Json)

/** The revision is this etcd's, not the recorded one's. */
const withRevision = (text: string, revision: string): string =>
  text.replace(/"resourceVersion":"\d+"/, `"resourceVersion":"${revision}"`)

async function served(t: Test, server: KeelsonProcess, { path, text }: Stored): Promise<void> {
  const { status, text: answer } = await server.request('GET', path)
  t.equal(status, 200, path)
  const { metadata } = JSON.parse(answer) as KubeObject
  t.equal(answer, withRevision(text, metadata?.resourceVersion ?? ''), `${path} is served as it was`)
}

/**
 * Read without its defaults, given what only this server could know (who set which of the fields that the recorded server
 * filled in too), and encoded again. What is left as it was recorded is compared byte for byte.
 */
function withSystemFields(value: Buffer, { metadata: actual }: KubeObject): Buffer {
  const { object } = decodeProtobuf(value, lookup)
  const { uid, creationTimestamp, managedFields } = actual ?? {}
  const known = parse(print(object).replaceAll(object.metadata?.uid ?? '', uid ?? ''))
  known.metadata = { ...known.metadata, creationTimestamp, managedFields } as NonNullable<KubeObject['metadata']>
  return encodeProtobuf(known, lookup(object.apiVersion!, object.kind!)!)
}

/** The selector and labels of a job are made with its uid. */
function asRequested(object: KubeObject): KubeObject {
  const { labels, ...metadata } = object.metadata ?? {}
  if (labels?.['batch.kubernetes.io/job-name'] === undefined) return object
  const { selector, template, ...spec } = object['spec'] as { selector?: object; template: { spec: object } }
  return { ...object, metadata, spec: { ...spec, template: { spec: template.spec } } }
}

/** Who asks and when it is asked is in these; and the pod was admitted by what a new one is not. */
const isOfItsMoment = ({ key }: Stored): boolean => /certificatesigningrequests|persistentvolumes\/|rich-pods/.test(key)

/** A new object of what was served gets the bytes of the recorded one. */
async function created(t: Test, server: KeelsonProcess, etcd: Etcd3, stored: Stored): Promise<void> {
  const { path, key, value, text } = stored
  const original = asRequested(parse(text))
  const { uid, resourceVersion, creationTimestamp, managedFields, generation, ...metadata } = original.metadata ?? {}
  const collection = path.slice(0, path.lastIndexOf('/'))
  const body = print({ ...original, metadata }).replaceAll(uid ?? '', '')
  const { status, text: answer } = await server.request('POST', `${collection}?fieldManager=dump`, body)
  t.equal(status, 201, `${path}: ${status === 201 ? 'created' : answer}`)
  const bytes = await etcd.get(key).buffer()
  const expected = withSystemFields(value, JSON.parse(answer) as KubeObject)
  t.ok(bytes?.equals(expected), `${key} is new and has the same bytes`)
}

/** Defaults that were not stored are stored by the next update, by that server as by this one. */
const completedOnRead = ({ key }: Stored): boolean => /persistentvolumeclaims|minimal-jobs/.test(key)

/** A label put on and taken off again: two writes, after which the object is what it was. */
async function rewritten(t: Test, server: KeelsonProcess, etcd: Etcd3, stored: Stored): Promise<void> {
  const { path, key, value, text } = stored
  const original = JSON.parse(text) as KubeObject & { metadata: { labels?: Record<string, string> } }
  const { metadata } = original
  const touched = { ...metadata, labels: { ...metadata.labels, 'touched-by': 'test' } }
  for (const wanted of [touched, metadata]) {
    const { metadata: now } = (await server.request('GET', path)).json as KubeObject
    const body = { ...original, metadata: { ...wanted, resourceVersion: now?.resourceVersion } }
    const { status, text: answer } = await server.request('PUT', `${path}?fieldManager=dump`, body)
    t.equal(status, 200, `${path}: ${status === 200 ? 'written' : answer}`)
  }
  const bytes = await etcd.get(key).buffer()
  t.ok(bytes?.equals(value), `${key} has the same bytes`)
}

t.test('what kube-apiserver stored', { skip: skipWithoutEtcd }, async (t) => {
  const objects = storedObjects()
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const witness = new Etcd3({ hosts: etcd.endpoint })
  t.teardown(() => witness.close())
  for (const { key, value } of objects) await witness.put(key).value(value)
  const server = await KeelsonProcess.start([
    `--etcd-servers=${etcd.endpoint}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--disable-admission-plugins=ServiceAccount',
  ])
  t.teardown(() => server.close())
  await server.request('POST', '/api/v1/namespaces', { metadata: { name: 'dump' } })
  await t.test('is served as it served it', async (t) => {
    for (const stored of objects) await served(t, server, stored)
  })
  await t.test('is written as it wrote it', async (t) => {
    for (const stored of objects) if (!completedOnRead(stored)) await rewritten(t, server, witness, stored)
  })
  await t.test('is written as it wrote it when it is new', async (t) => {
    // Services give their addresses back.
    for (const { path } of objects) if (path.includes('/services/')) await server.request('DELETE', path)
    for (const { key } of objects) await witness.delete().key(key)
    for (const stored of objects) if (!isOfItsMoment(stored)) await created(t, server, witness, stored)
  })
})
