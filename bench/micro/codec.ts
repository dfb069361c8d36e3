/**
 * Question: what does a write cost in the codec? Workload: a 4 KB pod and a 1 KB ConfigMap, one thread; microseconds of
 * CPU, so that a busy machine does not count. JSON.parse and JSON.stringify stand beside for scale.
 */
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { decodeJson } from '#keelson/api/json/decode.js'
import { encodeJson } from '#keelson/api/json/encode.js'
import { encodeDraft } from '#keelson/api/json/encode-draft.js'
import type { FieldSpec } from '#keelson/api/json/field-spec.js'
import { parseJson } from '#keelson/api/json/parse.js'
import { JsonReader } from '#keelson/api/json/reader.js'
import { recordDraft } from '#keelson/api/json/record-scan.js'
import { cpuTime } from './cpu-time.js'
import { configMap, pod } from './sample-objects.js'

const POD_FIELDS: readonly FieldSpec[] = [
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.schedulerName',
  'spec.serviceAccountName',
  'spec.hostNetwork',
  'status.phase',
  'status.podIP',
  'status.nominatedNodeName',
].map((name) => ({ name }))

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const schemas = new BuiltinSchemas()
  const rows: { name: string; figure: string; note?: string }[] = []
  for (const object of [pod, configMap]) {
    const schema = schemas.kind('', 'v1', object.kind)!
    const bytes = encodeJson(object, schema)
    const text = bytes.toString()
    const tree = decodeJson(bytes, schema).object
    const add = (what: string, work: () => unknown) =>
      rows.push({ name: `${object.kind} (${bytes.length} B): ${what}`, figure: `${cpuTime(work).toFixed(1)} µs` })
    add('JSON.parse alone', () => JSON.parse(text))
    add('JSON.stringify alone', () => JSON.stringify(object))
    add('parse: scan and JSON.parse', () => parseJson(bytes))
    add('parse: own reader', () => new JsonReader(text).read())
    add('decode into its type', () => decodeJson(bytes, schema))
    add('encode', () => encodeJson(tree, schema))
    add('record draft from bytes', () => recordDraft(bytes, POD_FIELDS))
    add('encode into a record draft', () => encodeDraft(tree, schema, POD_FIELDS))
  }
  return rows
}
