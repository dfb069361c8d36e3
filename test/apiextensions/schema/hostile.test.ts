/**
 * Schemas and objects that are made to hurt: few bytes that ask for much work. Each ends with an answer or with the words of a
 * limit, after work that is bounded: without the bounds these cases would take minutes each, or all memory.
 */
import t from 'tap'
import { DecodedSizeError } from '#keelson/api/decoded-size.js'
import type { Json } from '#keelson/api/object.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { isLinear } from '../../support/growth.js'
import { admitted, objectOf, ofSpec, wrongWith } from '../compiled.js'

const TEXT: JsonSchema = { type: 'string' }
const TOO_LONG = ['<nil> FieldValueInvalid']

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

/** `depth` alternatives within alternatives, two each. */
const tree = (kind: 'anyOf' | 'oneOf' | 'allOf', depth: number, leaf: JsonSchema): JsonSchema =>
  depth === 0 ? leaf : { [kind]: [tree(kind, depth - 1, leaf), tree(kind, depth - 1, leaf)] }

/** Each within the one before. */
const chain = (kind: 'anyOf' | 'oneOf' | 'allOf', depth: number, leaf: JsonSchema): JsonSchema =>
  times(depth, () => kind).reduce<JsonSchema>((inner, one) => ({ [one]: [inner] }), leaf)

t.test('alternatives as wide as those of real definitions, and wider', async (t) => {
  const kinds = times(300, (i) => `kind${i}`)
  const one = (kind: string): JsonSchema => ({ required: [kind], properties: { kind: { enum: [kind] } } })
  const item: JsonSchema = {
    type: 'object',
    properties: { kind: TEXT, ...Object.fromEntries(kinds.map((kind) => [kind, TEXT])) },
    oneOf: kinds.map(one),
  }
  const value = times(200, (i): Json => ({ kind: kinds[i]!, [kinds[i]!]: 'x' }))
  t.strictSame(wrongWith(listOf(item), value), [])
  const wide: JsonSchema = { ...TEXT, anyOf: times(20_000, (i) => ({ enum: [`v${i}`] })) }
  t.strictSame(wrongWith(wide, 'v19999'), [])
  t.strictSame(wrongWith(wide, 'other'), ['<nil> FieldValueInvalid', 'spec FieldValueNotSupported'])
  const schema = ofSpec(listOf({ ...TEXT, anyOf: times(100, () => ({ minLength: 2 })) }))
  t.ok(
    isLinear(
      500,
      (size) => objectOf(times(size, () => 'x')),
      (object) => schema.validate(object),
    ),
    'work grows with the object',
  )
})

t.test('alternatives within alternatives', async (t) => {
  const leaf: JsonSchema = { minLength: 2 }
  for (const kind of ['anyOf', 'oneOf', 'allOf'] as const) {
    t.strictSame(wrongWith({ ...TEXT, ...chain(kind, 500, leaf) }, 'xx'), [], `500 deep: ${kind}`)
    const wrong = wrongWith({ ...TEXT, ...chain(kind, 500, leaf) }, 'x')
    t.strictSame([...wrong].sort(), ['<nil> FieldValueInvalid', 'spec FieldValueInvalid'], `500 deep: ${kind}`)
    t.ok(wrongWith({ ...TEXT, ...tree(kind, 10, leaf) }, 'x').length > 0, `1,024 leaves: ${kind}`)
  }
  const missing: JsonSchema = { required: times(2000, (i) => `r${i}`) }
  const costly = wrongWith(
    listOf({ type: 'object', ...chain('allOf', 500, missing) }),
    times(1000, () => ({})),
  )
  t.strictSame(costly, TOO_LONG, 'errors that 500 alternatives hand on are work, too')
  const product = listOf({ ...TEXT, ...tree('anyOf', 13, leaf) })
  t.strictSame(wrongWith(product, new Array(5000).fill('x')), TOO_LONG)
})

t.test('values are looked for in a long enum', async (t) => {
  const texts = listOf({ ...TEXT, enum: times(10_000, (i) => `v${i}`) })
  const { errors } = ofSpec(texts).validate(objectOf(new Array(20_000).fill('x')))
  t.ok(errors.length > 1)
  const length = errors.reduce((sum, { detail }) => sum + detail.length, 0)
  t.ok(length <= 1_000_000, `${length} characters are told`)
  const listed = times(3000, (i): Json => ({ a: 1, b: [1, 2, 3, i] }))
  const objects = listOf({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true, enum: listed })
  t.strictSame(
    wrongWith(
      objects,
      times(50_000, () => ({ a: 1, b: [1, 2, 3, -1] })),
    ),
    TOO_LONG,
  )
  t.strictSame(
    wrongWith(
      objects,
      times(20, () => ({ a: 1, b: [1, 2, 3, 2999] })),
    ),
    [],
  )
})

t.test('defaults within defaults do not multiply beyond what an object may hold', async (t) => {
  // Ten properties a level, each of them a default whose own properties have defaults.
  const ten = (depth: number): JsonSchema => ({
    type: 'object',
    default: {},
    properties: Object.fromEntries(
      times(10, (i) => [`p${i}`, depth === 0 ? { ...TEXT, default: 'x' } : ten(depth - 1)]),
    ),
  })
  t.throws(() => admitted(ten(5), {}), DecodedSizeError)
  t.equal(Object.keys(admitted(ten(2), {}).spec as object).length, 10)
  // A hundred items in a default, each of which gets a hundred items by default, and so on.
  const hundred = (depth: number): JsonSchema => ({
    type: 'object',
    properties: {
      l: { ...listOf(depth === 0 ? { type: 'object' } : hundred(depth - 1)), default: times(100, () => ({})) },
    },
  })
  t.throws(() => admitted(hundred(3), {}), DecodedSizeError)
  t.throws(
    () =>
      admitted(
        listOf(hundred(0)),
        times(10_000, () => ({})),
      ),
    DecodedSizeError,
    'nor for many items',
  )
  t.throws(() => ofSpec(hundred(3)).setDefaults(objectOf({})), DecodedSizeError, 'nor after admission')
  const nulls = listOf({ ...hundred(0), default: {} })
  t.throws(() => admitted(nulls, new Array(10_000).fill(null)), DecodedSizeError, 'nor for nulls')
})

t.test('patterns at their limits', async (t) => {
  const optional: JsonSchema = { ...TEXT, pattern: '^(a?){1000}$' }
  t.strictSame(wrongWith(optional, 'a'.repeat(50)), [])
  t.strictSame(wrongWith(listOf(optional), new Array(20_000).fill('a'.repeat(900))), TOO_LONG)
  t.strictSame(wrongWith({ ...TEXT, pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' }, 'a'.repeat(20_000)), [
    'spec FieldValueInvalid',
  ])
  t.strictSame(wrongWith({ ...TEXT, pattern: `(${'x|'.repeat(9000)}y)` }, 'x'), ['spec FieldValueInvalid'], 'too long')
  t.strictSame(wrongWith({ ...TEXT, pattern: '(((a{1000}){1000}){1000})' }, 'a'), ['spec FieldValueInvalid'])
  const many: JsonSchema = { ...TEXT, allOf: times(300, (i) => ({ pattern: `^[a-z]{${1 + i}}` })) }
  t.strictSame(wrongWith(many, 'a'.repeat(300)), [])
})
