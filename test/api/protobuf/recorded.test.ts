import { existsSync, readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { parseGroupVersion } from '#keelson/api/group-version.js'
import { decodeTree } from '#keelson/api/json/decode.js'
import { encodeText } from '#keelson/api/json/encode.js'
import type { Json, KubeObject } from '#keelson/api/object.js'
import { decodeEnvelope, decodeProtobuf, encodeProtobuf } from '#keelson/api/protobuf/envelope.js'
import type { StructSchema } from '#keelson/api/schema.js'

const schemas = new BuiltinSchemas()
const lookup = (apiVersion: string, kind: string): StructSchema | undefined => {
  // The one object that is recorded without its name.
  if (kind === '') return schemas.kind('', 'v1', 'WatchEvent')
  const { group, version } = parseGroupVersion(apiVersion)!
  return schemas.kind(group, version, kind)
}

const ROUNDTRIP = '../shared/testdata/api-roundtrip'
t.test('every type with every field set, both ways', { skip: !existsSync(ROUNDTRIP) }, (t) => {
  const files = readdirSync(ROUNDTRIP).filter((file) => file.endsWith('.json'))
  t.equal(files.length, 185)
  for (const file of files) {
    const bytes = readFileSync(`${ROUNDTRIP}/${file.replace(/json$/, 'pb')}`)
    const text = JSON.stringify(JSON.parse(readFileSync(`${ROUNDTRIP}/${file}`, 'utf8')))
    const { object, apiVersion, kind } = decodeProtobuf(bytes, lookup)
    const schema = lookup(apiVersion, kind)!
    t.equal(encodeText(object, schema), text, file)
    const tree = decodeTree(JSON.parse(text) as Json, schema).object
    t.same(object, tree, `${file}: the tree`)
    t.ok(encodeProtobuf(tree, schema).equals(bytes), `${file}: the bytes`)
    t.ok(encodeProtobuf(object, schema).equals(bytes), `${file}: the bytes of what was decoded`)
  }
  t.end()
})

/** Reading them, kube-apiserver fills in defaults: labels from a job's template, the phase of a claim. */
const DEFAULTED = /\/jobs\/dump-minimal-jobs$|\/persistentvolumeclaims\//
const STORED = '../shared/testdata/stored-objects.jsonl'
t.test('what kube-apiserver stored is what it served, both ways', { skip: !existsSync(STORED) }, (t) => {
  const lines = readFileSync(STORED, 'utf8').trim().split('\n')
  t.ok(lines.length > 90)
  for (const line of lines) {
    const { path, value, object: served } = JSON.parse(line) as { path: string; value: string; object: string }
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
