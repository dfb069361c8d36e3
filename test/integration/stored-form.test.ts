/**
 * What is in etcd, seen by a reader that knows nothing of this project: written as protobuf in its envelope, and what is
 * laid down there as kube-apiserver would write it, or as JSON, is served. Encrypted or not.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Etcd3 } from 'etcd3'
import t, { type Test } from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { at, entries, field, message, texts } from '../support/wire-reader.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const SECRETS = '/api/v1/namespaces/default/secrets'

async function stored(etcd: Etcd3, key: string): Promise<Buffer> {
  const value = await etcd.get(key).buffer()
  if (value === null) throw new Error(`there is nothing at ${key}`)
  return value
}

/** k8s and a zero byte; then kind and version, the object, and two empty strings. */
function openEnvelope(t: Test, value: Buffer, apiVersion: string, kind: string): Buffer {
  t.equal(value.toString('latin1', 0, 4), 'k8s\0')
  const envelope = value.subarray(4)
  t.same([...texts(at(envelope, 1), 1), ...texts(at(envelope, 1), 2)], [apiVersion, kind])
  t.same([...texts(envelope, 3), ...texts(envelope, 4)], ['', ''], 'neither encoding nor content type')
  return at(envelope, 2)
}

const envelope = (apiVersion: string, kind: string, object: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    field(1, message(field(1, apiVersion), field(2, kind))),
    field(2, object),
    field(3, ''),
    field(4, ''),
  ])

async function writesProtobuf(t: Test, server: KeelsonProcess, etcd: Etcd3): Promise<void> {
  const data = { b: 'two', a: 'one', c: 'trois é ☃' }
  const created = (await server.request('POST', CONFIGMAPS, { metadata: { name: 'w' }, data })).json as KubeObject
  const object = openEnvelope(t, await stored(etcd, '/registry/configmaps/default/w'), 'v1', 'ConfigMap')
  t.same(texts(at(object, 1), 1), ['w'])
  t.same(texts(at(object, 1), 3), ['default'])
  t.same(texts(at(object, 1), 5), [created.metadata?.uid])
  t.same(texts(at(object, 1), 6), [''], 'the revision is not stored')
  const seconds = Date.parse(created.metadata?.creationTimestamp ?? '') / 1000
  t.same(at(object, 1, 8), message(field(1, seconds), field(2, 0)))
  t.same(entries(object, 2), [
    ['a', 'one'],
    ['b', 'two'],
    ['c', 'trois é ☃'],
  ])
  const autoscaler = {
    metadata: { name: 'h' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, maxReplicas: 3 },
  }
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers'
  t.equal((await server.request('POST', path, autoscaler)).status, 201)
  const key = '/registry/horizontalpodautoscalers/default/h'
  openEnvelope(t, await stored(etcd, key), 'autoscaling/v2', 'HorizontalPodAutoscaler')
}

/** Defaults of the status are for who reads; a new object is stored without one. */
async function storesNoPhase(t: Test, server: KeelsonProcess, etcd: Etcd3): Promise<void> {
  const claims = '/api/v1/namespaces/default/persistentvolumeclaims'
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  for (const query of ['?dryRun=All', '']) {
    const { json } = await server.request('POST', `${claims}${query}`, { metadata: { name: 'c' }, spec })
    t.match(json, { status: { phase: 'Pending' } }, `created${query}`)
  }
  t.match((await server.request('GET', `${claims}/c`)).json, { status: { phase: 'Pending' } })
  const key = '/registry/persistentvolumeclaims/default/c'
  const object = openEnvelope(t, await stored(etcd, key), 'v1', 'PersistentVolumeClaim')
  t.same(texts(at(object, 3), 1), [''], 'it is left open which phase')
}

async function readsWhatIsThere(t: Test, server: KeelsonProcess, etcd: Etcd3): Promise<void> {
  const uid = '11111111-2222-3333-4444-555555555555'
  const metadata = message(
    ...[field(1, 'p'), field(2, ''), field(3, 'default'), field(4, ''), field(5, uid), field(6, ''), field(7, 0)],
    field(8, message(field(1, 1_700_000_000), field(2, 0))),
    field(11, message(field(1, 'app'), field(2, 'x'))),
  )
  const container = message(field(1, 'main'), field(2, 'image:1'))
  const spec = message(field(2, container))
  await etcd.put('/registry/pods/default/p').value(envelope('v1', 'Pod', message(field(1, metadata), field(2, spec))))
  const laid = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'j', namespace: 'default', uid },
    data: { k: 'v' },
  }
  await etcd.put('/registry/configmaps/default/j').value(JSON.stringify(laid))
  const pod = (await server.request('GET', '/api/v1/namespaces/default/pods/p')).json as KubeObject
  t.match(pod, {
    kind: 'Pod',
    metadata: { name: 'p', uid, creationTimestamp: '2023-11-14T22:13:20Z', labels: { app: 'x' } },
  })
  t.match(pod, {
    spec: { restartPolicy: 'Always', containers: [{ name: 'main', imagePullPolicy: 'IfNotPresent' }] },
    status: {},
  })
  t.match((await server.request('GET', `${CONFIGMAPS}/j`)).json, { kind: 'ConfigMap', data: { k: 'v' } })
  const list = (await server.request('GET', CONFIGMAPS)).json as { items: KubeObject[] }
  t.ok(list.items.some((item) => item.metadata?.name === 'j'))
  await server.request('PATCH', `${CONFIGMAPS}/j`, '{"data":{"k":"w"}}', {
    'content-type': 'application/merge-patch+json',
  })
  const rewritten = openEnvelope(t, await stored(etcd, '/registry/configmaps/default/j'), 'v1', 'ConfigMap')
  t.same(entries(rewritten, 2), [['k', 'w']], 'the next write changes the form')
  await etcd.put('/registry/configmaps/default/corrupt').value(envelope('v1', 'ConfigMap', Buffer.from([0x0a, 0x7f])))
  t.equal((await server.request('GET', `${CONFIGMAPS}/j`)).status, 200, 'one object that nobody can read is one object')
  await etcd.delete().key('/registry/configmaps/default/corrupt')
}

async function encrypts(t: Test, server: KeelsonProcess, etcd: Etcd3, isProtobuf: boolean): Promise<void> {
  const value = Buffer.from('a secret value').toString('base64')
  t.equal((await server.request('POST', SECRETS, { metadata: { name: 's' }, data: { k: value } })).status, 201)
  const bytes = await stored(etcd, '/registry/secrets/default/s')
  t.equal(bytes.toString('latin1', 0, 27), 'k8s:enc:secretbox:v1:key-1:')
  t.notOk(bytes.includes('a secret value'))
  t.match((await server.request('GET', `${SECRETS}/s`)).json, { data: { k: value } })
  const plain = {
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 'plain', namespace: 'default' },
    data: { k: value },
  }
  await etcd.put('/registry/secrets/default/plain').value(JSON.stringify(plain))
  t.match((await server.request('GET', `${SECRETS}/plain`)).json, { data: { k: value } }, 'what was there before')
  await server.request('POST', CONFIGMAPS, { metadata: { name: 'form' } })
  const open = await stored(etcd, '/registry/configmaps/default/form')
  t.equal(open.toString('latin1', 0, 1) === '{', !isProtobuf)
}

/** Secrets alone are encrypted; what is not is read all the same. */
function encryptionConfig(t: Test): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-form-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'encryption.yaml')
  const secret = randomBytes(32).toString('base64')
  const providers = [{ secretbox: { keys: [{ name: 'key-1', secret }] } }, { identity: {} }]
  const config = { kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1' }
  writeFileSync(file, JSON.stringify({ ...config, resources: [{ resources: ['secrets'], providers }] }))
  return file
}

t.test('objects in etcd', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const witness = new Etcd3({ hosts: etcd.endpoint })
  t.teardown(() => witness.close())
  const file = encryptionConfig(t)
  const flags = [`--etcd-servers=${etcd.endpoint}`, `--encryption-provider-config=${file}`]
  await t.test('as protobuf', async (t) => {
    const server = await KeelsonProcess.start(flags)
    t.teardown(() => server.close())
    await t.test('a foreign reader understands what is written', (t) => writesProtobuf(t, server, witness))
    await t.test('a new claim has no phase of its own', (t) => storesNoPhase(t, server, witness))
    await t.test('what others wrote is served', (t) => readsWhatIsThere(t, server, witness))
    await t.test('encrypted', (t) => encrypts(t, server, witness, true))
  })
  await t.test('as JSON', async (t) => {
    for (const key of ['secrets/default/s', 'secrets/default/plain', 'configmaps/default/form'])
      await witness.delete().key(`/registry/${key}`)
    const server = await KeelsonProcess.start([...flags, '--storage-media-type=application/json'])
    t.teardown(() => server.close())
    t.match((await server.request('GET', `${CONFIGMAPS}/w`)).json, { data: { a: 'one' } }, 'protobuf is read')
    await t.test('encrypted', (t) => encrypts(t, server, witness, false))
  })
})
