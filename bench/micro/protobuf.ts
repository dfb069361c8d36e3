/**
 * Question: what does protobuf cost beside JSON? Workload: the same 4 KB pod and 1 KB ConfigMap, one thread; microseconds
 * of CPU. JSON.parse and JSON.stringify, from and to bytes, stand beside: the aim is to be no slower. And what does the
 * owner do with it? The same pod as it comes from etcd: decoded, defaulted, encoded for memory, put into an arena and
 * published, one revision each; the aim is 8,000 a second on one core. Beside it: a draft that a pool thread made, handed
 * over by a port.
 */
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { decodeJson } from '#keelson/api/json/decode.js'
import { encodeJson } from '#keelson/api/json/encode.js'
import { decodeProtobuf, encodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { RecordDraft } from '#keelson/protocol/record-draft.js'
import { rulesOf } from '#keelson/registry/rules-table.js'
import { DEFAULT_ETCD_OPTIONS } from '#keelson/storage/factory/factory-options.js'
import { Scheme } from '#keelson/workers/scheme/scheme.js'
import { draftsOf } from '#keelson/workers/scheme/stored-drafts.js'
import { cpuTime } from './cpu-time.js'
import { configMap, pod } from './sample-objects.js'

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const schemas = new BuiltinSchemas()
  const rows: { name: string; figure: string; note?: string }[] = []
  for (const object of [pod, configMap]) {
    const schema = schemas.kind('', 'v1', object.kind)!
    const json = encodeJson(object, schema)
    const tree = decodeJson(json, schema).object
    const bytes = encodeProtobuf(tree, schema)
    const lookup = () => schema
    const add = (what: string, size: number, work: () => unknown) =>
      rows.push({ name: `${object.kind} (${size} B): ${what}`, figure: `${cpuTime(work).toFixed(1)} µs` })
    add('JSON.parse', json.length, () => JSON.parse(json.toString()))
    add('protobuf decode', bytes.length, () => decodeProtobuf(bytes, lookup))
    add('JSON decode into its type', json.length, () => decodeJson(json, schema))
    add('JSON.stringify', json.length, () => Buffer.from(JSON.stringify(object)))
    add('protobuf encode', bytes.length, () => encodeProtobuf(tree, schema))
    add('JSON encode of its type', json.length, () => encodeJson(tree, schema))
  }
  return [...rows, ...ownerRows()]
}

/** From stored bytes to published memory. */
function ownerRows(): { name: string; figure: string }[] {
  const etcdOptions = { ...DEFAULT_ETCD_OPTIONS, etcdServers: ['http://127.0.0.1:2379'] }
  const scheme = new Scheme({ etcdOptions, runtimeConfig: [] }, undefined, rulesOf)
  const { codec } = scheme.newConfig({ group: '', resource: 'pods' })
  const tree = decodeJson(encodeJson(pod, scheme.kind('', 'v1', 'Pod')!), scheme.kind('', 'v1', 'Pod')!).object
  const stored = codec.encode(tree)
  const draftOf = draftsOf(scheme, 'pods', false)
  const draft = draftOf(stored)
  const { port1, port2 } = new MessageChannel()
  const handed = (): RecordDraft => {
    port1.postMessage({ key: '/registry/pods/default/pod-1', draft })
    return (receiveMessageOnPort(port2) as { message: { draft: RecordDraft } }).message.draft
  }
  const row = (name: string, microseconds: number) => ({
    name: `owner, Pod (${stored.length} B): ${name}`,
    figure: `${microseconds.toFixed(1)} µs`,
    note: `${Math.round(1e6 / microseconds)} a second`,
  })
  const rows = [
    row(
      'decode and default',
      cpuTime(() => codec.decode(stored)),
    ),
    row(
      'draft of it',
      cpuTime(() => draftOf(stored)),
    ),
    row(
      'an event, from bytes',
      applyTime(() => draftOf(stored)),
    ),
    row('an event, draft handed over (both ends of the port)', applyTime(handed)),
  ]
  port1.close()
  return rows
}

function applyTime(draftOf: () => RecordDraft): number {
  const owner = new MemoryOwner()
  const arena = owner.createArena('pods')
  arena.replace([], 1)
  let revision = 1
  const time = cpuTime(() => {
    revision++
    arena.put(`/registry/pods/default/pod-${revision % 5000}`, draftOf(), revision, revision)
    arena.publish(revision)
    owner.clock.advance(revision)
  })
  owner.close()
  return time
}
