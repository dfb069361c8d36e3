/** An object of any type with every field set, made from the schema alone; values differ by the seed. */
import type { Json, JsonObject } from '#keelson/api/object.js'
import type { ScalarSchema, StructSchema, TypeSchema } from '#keelson/api/schema.js'
import type { Random } from '../../support/fuzz.js'

/** A type that holds itself is set this often within itself. */
const MAX_DEPTH = 12

export type SampleOptions = { readonly random: Random; readonly chance: number }

export function sampleObject(
  schema: StructSchema,
  options: SampleOptions,
  depth = 0,
  within: string[] = [],
): JsonObject {
  const object: JsonObject = {}
  const path = [...within, schema.name]
  for (const field of schema.fields.values()) {
    if (field.wire === undefined || !options.random.chance(options.chance)) continue
    const again = path.filter((name) => name === nameOf(field.type)).length
    if (again > 1 || depth > MAX_DEPTH) continue
    object[field.name] = sampleValue(field.type, options, depth + 1, path)
  }
  return object
}

function nameOf(type: TypeSchema): string {
  if (type.kind === 'list') return nameOf(type.items)
  if (type.kind === 'map') return nameOf(type.values)
  return type.kind === 'struct' ? type.name : ''
}

function sampleValue(type: TypeSchema, options: SampleOptions, depth: number, path: string[]): Json {
  const { random } = options
  switch (type.kind) {
    case 'struct':
      return sampleObject(type, options, depth, path)
    case 'list':
      return Array.from({ length: 1 + random.below(2) }, () => sampleValue(type.items, options, depth, path))
    case 'map': {
      const keys = random.pick([['b', 'a'], ['only'], ['\ue000', '😀', 'é', '10', '9'], ['__proto__x', '']])
      return Object.fromEntries(keys.map((key) => [key, sampleValue(type.values, options, depth, path)]))
    }
    default:
      return random.pick(SCALARS[type.name ?? ''] ?? SCALARS[type.kind]!)
  }
}

/** Raw JSON is printed in the order in which it is: these are in that of the type. */
const SCHEMAS: Json[] = [
  { type: 'string', default: { z: 1, a: [null, 'x'] }, maxLength: 3 },
  { properties: { a: { type: 'array', items: { type: 'integer' } } }, 'x-kubernetes-int-or-string': true },
]
/** By kind, or by the definition where several share the kind. */
const SCALARS: Readonly<Record<ScalarSchema['kind'] | string, readonly Json[]>> = {
  string: ['text', 'é😀', 'a string that is longer than what is written in a loop, ü', 'x'.repeat(200), ' '],
  boolean: [true, false],
  int32: [1, -1, 2147483647, -2147483648, 127, 128, 300, 0],
  int64: [1, -1, 0, 300, 9007199254740991, 9007199254740993n, -9007199254740993n, 9223372036854775807n],
  double: [1.5, -0.1, 1e300, 3],
  bytes: ['', 'AAEC', '/+8=', 'A'.repeat(4000)],
  time: ['2026-01-02T03:04:05Z', '1969-12-31T23:59:59Z', '9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z'],
  'micro-time': ['2026-01-02T03:04:05.000000Z', '1969-12-31T23:59:59.999999Z'],
  duration: ['0s', '1h0m0s', '-1.5s'],
  quantity: ['0', '500m', '1Gi', '-3', '12e6'],
  'int-or-string': [0, -5, 8080, '', 'http', '50%'],
  any: [{ b: { z: 1, a: [true, null, 'ü'] } }, { n: 9007199254740993n }, { f: 1.5 }],
  JSON: [1, 'text', [1, 2], { a: null }, false],
  JSONSchemaPropsOrArray: [...SCHEMAS, [...SCHEMAS]],
  JSONSchemaPropsOrBool: [...SCHEMAS, true, false],
  JSONSchemaPropsOrStringArray: [...SCHEMAS, ['a', 'b']],
}
