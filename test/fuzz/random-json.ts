/** Random trees, by schema or by nothing, with the keys and values that break things. */
import type { Json, JsonObject } from '#keelson/api/object.js'
import type { TypeSchema } from '#keelson/api/schema.js'
import type { Random } from '../support/fuzz.js'

const KEYS = [
  'a',
  'b',
  'name',
  'spec',
  '',
  '/',
  '~',
  '0',
  '-',
  '__proto__',
  'constructor',
  'é𝄞',
  '$patch',
  '$retainKeys',
]
const SCALARS: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  9007199254740993n,
  '',
  'a',
  'b',
  'delete',
  'replace',
  'x/y~z',
]
/** Without nulls and directives, which a patch cannot set. */
const PLAIN: readonly Json[] = ['a', 1, 9007199254740993n, { a: { b: 1 } }, { a: { c: [] } }, ['x', { y: 1 }], []]

export function randomJson(random: Random, depth = 3): Json {
  if (depth === 0 || random.chance(40)) return random.pick(SCALARS)
  if (random.chance(40)) return Array.from({ length: random.below(4) }, () => randomJson(random, depth - 1))
  return randomObject(random, depth)
}

export function randomObject(random: Random, depth = 3): JsonObject {
  const members = Array.from({ length: random.below(5) }, () => [random.pick(KEYS), randomJson(random, depth - 1)])
  return Object.fromEntries(members) as JsonObject
}

/** A value of the type. With `noise`, sometimes not: another kind, a null, a directive. */
export function randomOf(random: Random, schema: TypeSchema, noise = 0, depth = 6): Json {
  if (noise > 0 && random.chance(noise)) return randomJson(random, 2)
  switch (schema.kind) {
    case 'struct':
    case 'map':
      return randomMembers(random, schema, noise, depth)
    case 'list':
      return randomList(random, schema, noise, depth)
    case 'boolean':
      return random.chance(50)
    case 'int32':
    case 'int64':
    case 'double':
      return random.below(4)
    case 'any':
      return noise > 0 ? randomJson(random, 2) : random.pick(PLAIN)
    default:
      return random.pick(['a', 'b', 'c', 'd'])
  }
}

function randomMembers(
  random: Random,
  schema: TypeSchema & { kind: 'struct' | 'map' },
  noise: number,
  depth: number,
): Json {
  const object: JsonObject = {}
  if (depth === 0) return object
  if (schema.kind === 'map') {
    for (let i = random.below(4); i > 0; i--)
      object[random.pick(KEYS)] = randomOf(random, schema.values, noise, depth - 1)
    return object
  }
  for (const [name, field] of schema.fields)
    if (random.chance(45)) object[name] = randomOf(random, field.type, noise, depth - 1)
  if (noise > 0) addDirectives(random, object)
  return object
}

function addDirectives(random: Random, object: JsonObject): void {
  const name = random.pick(Object.keys(object).concat('name'))
  if (random.chance(8)) object['$patch'] = random.pick(['delete', 'replace', 'merge', 'x', null, 1])
  if (random.chance(8)) object['$retainKeys'] = random.pick([Object.keys(object), ['type'], 'x', null] as Json[])
  if (random.chance(8))
    object[`$setElementOrder/${name}`] = random.pick([
      [{ name: 'a' }, { name: 'b' }],
      ['a', 'b'],
      [],
      null,
      1,
    ] as Json[])
  if (random.chance(8)) object[`$deleteFromPrimitiveList/${name}`] = random.pick([['a'], [], null, {}] as Json[])
  if (random.chance(8)) object[name] = null
}

function randomList(random: Random, schema: TypeSchema & { kind: 'list' }, noise: number, depth: number): Json {
  const items = Array.from({ length: random.below(4) }, () => randomOf(random, schema.items, noise, depth - 1))
  if (noise > 0 || schema.listType === 'atomic') return items
  if (schema.listType === 'set') return [...new Set(items)]
  const seen = new Map<string, Json>()
  for (const item of items as JsonObject[]) {
    for (const key of schema.mapKeys)
      item[key] ??= key === 'containerPort' ? random.below(4) : random.pick(['a', 'b', 'c', 'd'])
    // Strategic merge is not idempotent where two items share the merge key, though apply tells them apart.
    seen.set(String(item[schema.patchMergeKey ?? '']), item)
  }
  return [...seen.values()]
}
