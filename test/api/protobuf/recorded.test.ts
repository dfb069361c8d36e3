import { createHash } from 'node:crypto'
import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { parseGroupVersion } from '#keelson/api/group-version.js'
import { decodeTree } from '#keelson/api/json/decode.js'
import { encodeText } from '#keelson/api/json/encode.js'
import type { Json, KubeObject } from '#keelson/api/object.js'
import { decodeEnvelope, decodeProtobuf, encodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import type { StructSchema } from '#keelson/api/schema.js'
import { type RoundTripObject, recordedLines, type StoredObject } from '../../support/recordings/recording.js'

const schemas = new BuiltinSchemas()
const lookup = (apiVersion: string, kind: string): StructSchema | undefined => {
  // The one object that is recorded without its name.
  if (kind === '') return schemas.kind('', 'v1', 'WatchEvent')
  const { group, version } = parseGroupVersion(apiVersion)!
  return schemas.kind(group, version, kind)
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

t.test('every type with every field set, both ways', (t) => {
  const objects = recordedLines<RoundTripObject>('round-trip.jsonl')
  t.equal(objects.length, 185)
  for (const { name, sha256: hash, object: recorded } of objects) {
    const { apiVersion = '', kind = '' } = recorded as { apiVersion?: string; kind?: string }
    const schema = lookup(apiVersion, kind)!
    const tree = decodeTree(recorded as Json, schema).object
    const bytes = encodeProtobuf(tree, schema)
    t.equal(sha256(bytes), hash, `${name}: the bytes`)
    // The hash says that these are the recorded bytes; so what they decode to is what the recorded ones do.
    const { object } = decodeProtobuf(bytes, lookup)
    t.equal(encodeText(object, schema), JSON.stringify(recorded), name)
    t.same(object, tree, `${name}: the tree`)
    t.ok(encodeProtobuf(object, schema).equals(bytes), `${name}: the bytes of what was decoded`)
  }
  t.end()
})

/** Reading them, kube-apiserver fills in defaults: labels from a job's template, the phase of a claim. */
const DEFAULTED = /\/jobs\/dump-minimal-jobs$|\/persistentvolumeclaims\//
t.test('what kube-apiserver stored is what it served, both ways', (t) => {
  const stored = recordedLines<StoredObject>('stored-objects.jsonl')
  t.equal(stored.length, 92)
  for (const { path, value, object: served } of stored) {
    const bytes = Buffer.from(value, 'base64')
    const { object, apiVersion, kind } = decodeProtobuf(bytes, lookup)
    const schema = lookup(apiVersion, kind)!
    const shown = JSON.parse(served) as KubeObject
    t.equal(object.metadata?.resourceVersion, undefined, 'the revision is not stored')
    if (shown.apiVersion === apiVersion && !DEFAULTED.test(path)) {
      const { resourceVersion } = shown.metadata!
      const text = encodeText(
        { ...object, metadata: { ...object.metadata!, resourceVersion: resourceVersion! } },
        schema,
      )
      t.equal(`${text}\n`, served, path)
    }
    t.ok(encodeProtobuf(object, schema).equals(bytes), `${path}: the bytes`)
    t.equal(decodeEnvelope(bytes).kind, shown.kind)
  }
  t.end()
})
