/**
 * Question: what does protobuf cost beside JSON? Workload: the same 4 KB pod and 1 KB ConfigMap, one thread; microseconds
 * of CPU. JSON.parse and JSON.stringify, from and to bytes, stand beside: the aim is to be no slower.
 */
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { decodeJson } from '#keelson/api/json/decode.js'
import { encodeJson } from '#keelson/api/json/encode.js'
import { decodeProtobuf, encodeProtobuf } from '#keelson/api/protobuf/envelope.js'
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
  return rows
}
