/**
 * Question: what does an object of a custom resource cost, from bytes to verdict? Workload: a definition of 20 KB whose schema
 * has 60 objects, and an object of 12.8 KB of it, one thread; microseconds of CPU, so that a busy machine does not count.
 * JSON.parse stands beside for scale.
 */
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import type { Json, JsonObject } from '#keelson/api/object.js'
import { compileSchema } from '#keelson/apiextensions/schema/compile-schema.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { cpuTime } from './cpu-time.js'

const OBJECTS = 60

const text = (more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  description: 'What this is for, in a few words.',
  ...more,
})

const part: JsonSchema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: text({ pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 }),
    mode: text({ enum: ['Auto', 'Manual', 'Off'], default: 'Auto' }),
    replicas: { type: 'integer', format: 'int32', minimum: 0, maximum: 100, default: 1 },
    since: text({ format: 'date-time' }),
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port'],
      items: {
        type: 'object',
        required: ['port'],
        properties: { port: { type: 'integer' }, target: { 'x-kubernetes-int-or-string': true } },
      },
    },
  },
}

/** Three a part, ninety in all: of a text and a number, of a list, and of a change. */
const RULES = [
  { rule: "self.name.startsWith('part') && self.replicas < 100", message: 'what a part is called' },
  { rule: 'self.ports.all(p, p.port > 0)' },
  { rule: 'self.name == oldSelf.name' },
]

const names = Array.from({ length: OBJECTS / 2 }, (_, i) => `part${i}`)

const schemaOf = (one: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, structuredClone(one)])) },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
})
export const schema = schemaOf(part)
const ruledSchema = schemaOf({ ...part, 'x-kubernetes-validations': RULES })

const value = (name: string): JsonObject => ({
  name,
  since: '2024-02-29T12:00:00Z',
  replicas: 3,
  labels: { app: name, tier: 'backend', owner: 'somebody-who-cares', 'example.com/note': 'x'.repeat(90) },
  ports: [80, 443, 8080, 9090].map((port) => ({ port, target: port % 2 === 0 ? port + 1 : 'http' })),
})

export const object: JsonObject = {
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'a', namespace: 'default', labels: { app: 'a' }, annotations: { note: 'n'.repeat(200) } },
  spec: Object.fromEntries(names.map((name): [string, Json] => [name, value(name)])),
}

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const builtin = new BuiltinSchemas()
  const body = Buffer.from(JSON.stringify(object))
  const compiled = compileSchema(schema, { builtin })
  const decoded = compiled.decode(body).object
  const sizes = `${(body.length / 1000).toFixed(1)} KB, schema ${(JSON.stringify(schema).length / 1000).toFixed(0)} KB`
  const rows: { name: string; figure: string; note?: string }[] = []
  const add = (what: string, work: () => unknown): void => {
    rows.push({ name: `custom object: ${what}`, figure: `${cpuTime(work).toFixed(1)} µs`, note: sizes })
  }
  add('JSON.parse alone', () => JSON.parse(body.toString('latin1')))
  add('decode, prune, default', () => compiled.decode(body))
  add('validate', () => compiled.validate(decoded))
  add('validate an update that changes nothing', () => compiled.validate(decoded, { old: decoded }))
  const ruled = compileSchema(ruledSchema, { builtin })
  add('validate with 90 rules', () => ruled.validate(decoded))
  add('validate an update with 90 rules', () => ruled.validate(decoded, { old: decoded }))
  add('compile and the first object with 90 rules', () => {
    const fresh = compileSchema(ruledSchema, { builtin })
    fresh.validate(fresh.decode(body).object)
  })
  add('compile and the first object', () => {
    const fresh = compileSchema(schema, { builtin })
    fresh.validate(fresh.decode(body).object)
  })
  return rows
}
