import t from 'tap'
import type { JsonObject } from '#keelson/api/object.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { objectOf, ofObject, ofSpec, told, wrongWith } from '../compiled.js'

const TEXT: JsonSchema = { type: 'string' }
const WHOLE: JsonSchema = { type: 'integer' }

t.test('types', async (t) => {
  const values: Readonly<Record<string, unknown>> = {
    string: 'x',
    boolean: true,
    integer: 5,
    number: 1.5,
    array: [],
    object: {},
  }
  for (const type of Object.keys(values))
    for (const [name, value] of Object.entries(values)) {
      const fits = type === name || (type === 'number' && name === 'integer')
      const want = fits ? [] : ['spec FieldValueTypeInvalid']
      if (type === 'integer' && name === 'number') want.push('<nil> FieldValueInvalid')
      t.strictSame(wrongWith({ type }, value), want, `${name} for ${type}`)
    }
  t.strictSame(wrongWith(TEXT, null), ['spec FieldValueTypeInvalid'])
  t.strictSame(wrongWith({ ...TEXT, nullable: true }, null), [])
  t.strictSame(wrongWith(WHOLE, 9007199254740993n), [])
  t.strictSame(wrongWith(WHOLE, 1e20), ['spec FieldValueTypeInvalid', '<nil> FieldValueInvalid'])
  const either: JsonSchema = { 'x-kubernetes-int-or-string': true }
  t.strictSame(wrongWith({ type: 'array', items: either }, [1, 'a', true, null, 1.5]), [
    'spec[2] FieldValueTypeInvalid',
    'spec[3] FieldValueTypeInvalid',
    'spec[4] FieldValueTypeInvalid',
  ])
})

t.test('numbers: bounds, multiples, formats', async (t) => {
  const range: JsonSchema = { ...WHOLE, minimum: 2, maximum: 5, exclusiveMaximum: true }
  t.strictSame(
    [1, 2, 4, 5].map((value) => wrongWith(range, value).length),
    [1, 0, 0, 1],
  )
  t.strictSame(wrongWith({ type: 'number', minimum: 1.5 }, 1), [], 'the bound of an integer is cut')
  t.strictSame(wrongWith({ type: 'number', minimum: 1.5 }, 1.4), ['spec FieldValueInvalid'])
  t.strictSame(
    wrongWith({ ...WHOLE, maximum: 1.5 }, 1),
    ['<nil> FieldValueInvalid'],
    'a bound that is no integer is wrong',
  )
  t.strictSame(wrongWith({ ...WHOLE, multipleOf: 3 }, 9), [])
  t.strictSame(wrongWith({ ...WHOLE, multipleOf: 3 }, 10), ['spec FieldValueInvalid'])
  t.strictSame(wrongWith({ type: 'number', multipleOf: 0.1 }, 0.3), [])
  t.strictSame(wrongWith({ type: 'number', multipleOf: 0.1 }, 0.35), ['spec FieldValueInvalid'])
  t.strictSame(wrongWith({ ...WHOLE, format: 'int32' }, 2147483648), ['<nil> FieldValueInvalid'])
  t.strictSame(wrongWith({ ...WHOLE, format: 'int32' }, -2147483648), [])
  t.strictSame(wrongWith({ ...WHOLE, format: 'int64' }, 9.3e18), [
    'spec FieldValueTypeInvalid',
    '<nil> FieldValueInvalid',
  ])
  t.strictSame(wrongWith({ type: 'number', format: 'float' }, 3.5e38), ['<nil> FieldValueInvalid'])
})

t.test('strings: length in characters, pattern, format; the first of length and pattern is told', async (t) => {
  const schema: JsonSchema = { ...TEXT, minLength: 2, maxLength: 4, pattern: '^[a-z\u{10000}-\u{10ffff}]+$' }
  t.strictSame(wrongWith(schema, '😀😀😀😀'), [])
  t.strictSame(wrongWith(schema, '😀😀😀😀😀'), ['spec FieldValueTooLong'])
  t.strictSame(wrongWith(schema, '😀'), ['spec FieldValueInvalid'])
  t.strictSame(wrongWith(schema, 'A1'), ['spec FieldValueInvalid'])
  t.strictSame(wrongWith({ ...TEXT, format: 'date', pattern: '^x' }, 'y'), [
    'spec FieldValueInvalid',
    'spec FieldValueTypeInvalid',
  ])
  t.strictSame(wrongWith({ ...TEXT, format: 'nobody-knows' }, 'y'), [])
  t.strictSame(
    wrongWith({ ...TEXT, pattern: '(' }, 'y'),
    ['spec FieldValueInvalid'],
    'a pattern that is none matches nothing',
  )
  t.strictSame(wrongWith({ ...TEXT, format: 'date' }, ['x']), [], 'as in Kubernetes, a list passes where a format is')
})

t.test('enum: strings, numbers, objects, null', async (t) => {
  t.strictSame(wrongWith({ ...TEXT, enum: ['a', 'b'] }, 'c'), ['spec FieldValueNotSupported'])
  t.strictSame(wrongWith({ type: 'number', enum: [1, 1.5] }, 1.5), [])
  t.strictSame(wrongWith({ type: 'number', enum: [1, 1.5] }, 2), ['spec FieldValueNotSupported'])
  const object: JsonSchema = { type: 'object', properties: { a: WHOLE }, enum: [{ a: 1 }] }
  t.strictSame(wrongWith(object, { a: 1 }), [])
  t.strictSame(wrongWith(object, { a: 2 }), ['spec FieldValueNotSupported'])
  t.strictSame(wrongWith({ ...TEXT, nullable: true, enum: ['a'] }, null), ['spec FieldValueNotSupported'])
  t.strictSame(wrongWith({ ...TEXT, nullable: true, enum: ['a', null] }, null), [])
})

t.test('objects and lists: how many, what is required, what is forbidden', async (t) => {
  const object: JsonSchema = {
    type: 'object',
    properties: { a: { type: 'object', required: ['b'], properties: { b: TEXT } } },
    required: ['a', 'constructor'],
    maxProperties: 1,
  }
  t.strictSame(wrongWith(object, { a: {}, c: 1 }), [
    'spec FieldValueTooMany',
    'spec.a.b FieldValueRequired',
    'spec.constructor FieldValueRequired',
  ])
  t.strictSame(wrongWith({ type: 'object', minProperties: 1 }, {}), ['spec FieldValueInvalid'])
  t.strictSame(wrongWith({ type: 'object', additionalProperties: false }, { a: 1 }), ['spec FieldValueInvalid'])
  t.strictSame(wrongWith({ type: 'object', additionalProperties: WHOLE }, { 'a/b': 'x' }), [
    'spec.a/b FieldValueTypeInvalid',
  ])
  const list: JsonSchema = { type: 'array', items: WHOLE, minItems: 1, maxItems: 2 }
  t.strictSame(wrongWith(list, []), ['spec FieldValueInvalid'])
  t.strictSame(wrongWith(list, [1, 'x', 3]), ['spec[1] FieldValueTypeInvalid', 'spec FieldValueTooMany'])
  const root = ofObject({ type: 'object', required: ['spec'], properties: { spec: TEXT } })
  t.strictSame(told(root.validate({ kind: 'W' }).errors), ['spec FieldValueRequired'])
})

t.test('alternatives: the one that got furthest is told, and the whole has no place', async (t) => {
  const any: JsonSchema = {
    type: 'object',
    anyOf: [{ required: ['a'] }, { required: ['b', 'c'], properties: { b: { minLength: 2 } } }],
  }
  t.strictSame(wrongWith(any, { b: 'xx' }), ['<nil> FieldValueInvalid', 'spec.c FieldValueRequired'])
  t.strictSame(wrongWith(any, {}), ['<nil> FieldValueInvalid', 'spec.a FieldValueRequired'])
  t.strictSame(wrongWith(any, { a: 1 }), [])
  const one: JsonSchema = { ...WHOLE, oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }
  t.strictSame(wrongWith(one, 4), [])
  t.strictSame(wrongWith(one, 6), ['<nil> FieldValueInvalid'])
  t.strictSame(wrongWith(one, 7), ['<nil> FieldValueInvalid', 'spec FieldValueInvalid'])
  const all: JsonSchema = { ...TEXT, allOf: [{ minLength: 2 }, { pattern: 'x' }, { minLength: 2 }] }
  t.strictSame(
    wrongWith(all, 'y'),
    ['spec FieldValueInvalid', 'spec FieldValueInvalid', '<nil> FieldValueInvalid'],
    'once each',
  )
  t.strictSame(wrongWith({ ...TEXT, not: { enum: ['bad'] } }, 'bad'), ['<nil> FieldValueInvalid'])
})

t.test('lists of type set and map have no value twice; it is told once', async (t) => {
  const set: JsonSchema = { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' }
  t.strictSame(wrongWith(set, ['a', 'b', 'a', 'a', 'b']), [
    'spec[2] FieldValueDuplicate',
    'spec[4] FieldValueDuplicate',
  ])
  const arrays: JsonSchema = { type: 'array', items: { type: 'array', items: WHOLE }, 'x-kubernetes-list-type': 'set' }
  t.strictSame(wrongWith(arrays, [[1], [1, 2], [1]]), ['spec[2] FieldValueDuplicate'])
  const item: JsonSchema = { type: 'object', properties: { k: TEXT, n: WHOLE, v: TEXT } }
  const map = (...keys: string[]): JsonSchema => ({
    type: 'array',
    items: item,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  })
  t.strictSame(wrongWith(map('k'), [{ k: 'a', v: '1' }, { k: 'a' }, { v: '2' }, {}]), [
    'spec[1] FieldValueDuplicate',
    'spec[3] FieldValueDuplicate',
  ])
  t.strictSame(
    wrongWith(map('k', 'n'), [
      { k: 'a', n: 1 },
      { k: 'a', n: 2 },
      { n: 1, k: 'a' },
    ]),
    ['spec[2] FieldValueDuplicate'],
  )
})

t.test('embedded objects are objects', async (t) => {
  const schema: JsonSchema = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }
  t.strictSame(wrongWith(schema, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }), [])
  t.strictSame(wrongWith(schema, {}), ['spec.apiVersion FieldValueRequired', 'spec.kind FieldValueRequired'])
  t.strictSame(
    wrongWith(schema, { apiVersion: 'a/b/c', kind: 'x y', metadata: { name: '..', labels: { 'a b': '1' } } }),
    [
      'spec.apiVersion FieldValueInvalid',
      'spec.kind FieldValueInvalid',
      'spec.metadata.name FieldValueInvalid',
      'spec.metadata.labels FieldValueInvalid',
    ],
  )
  const nested: JsonSchema = { type: 'object', additionalProperties: schema }
  t.strictSame(wrongWith(nested, { k: { kind: 'K' } }), ['spec[k].apiVersion FieldValueRequired'])
})

t.test('status is held against its own schema, and lists of the whole', async (t) => {
  const set: JsonSchema = { type: 'array', items: WHOLE, 'x-kubernetes-list-type': 'set' }
  const schema = ofObject({
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { set } },
      status: { type: 'object', required: ['a'], anyOf: [{ required: ['b'] }] },
    },
  })
  const object = objectOf({ set: [1, 1], zz: 1 }, { status: {} })
  t.strictSame(told(schema.validate(object, { subresource: 'status' }).errors), [
    'status FieldValueInvalid',
    'status.b FieldValueRequired',
    'status.a FieldValueRequired',
    'spec.set[1] FieldValueDuplicate',
  ])
  t.strictSame(schema.validate(objectOf({}), { subresource: 'status' }).errors, [])
})

t.test('paths of scale are checked on every write', async (t) => {
  const schema = ofObject({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n', labelSelectorPath: '.status.s' }
  const wrong = (object: JsonObject, subresource?: 'status'): string[] =>
    told(schema.validate(object, { scale, ...(subresource === undefined ? {} : { subresource }) }).errors)
  t.strictSame(wrong(objectOf({ n: 3 }, { status: { n: 2 ** 31 - 1, s: 'a=b' } })), [])
  t.strictSame(wrong(objectOf({})), [])
  const bad = objectOf({ n: -1 }, { status: { n: 2 ** 31, s: 5 } })
  t.strictSame(wrong(bad), ['.spec.n FieldValueInvalid', '.status.n FieldValueInvalid', '.status.s FieldValueInvalid'])
  t.strictSame(wrong(bad, 'status'), ['.status.n FieldValueInvalid', '.status.s FieldValueInvalid'])
  t.strictSame(wrong(objectOf('x')), ['.spec.n FieldValueInvalid'])
  const { object, wholeFloats } = schema.decode(Buffer.from('{"spec":{"n":4.0}}'))
  t.strictSame(told(schema.validate(object, { scale, wholeFloats }).errors), ['.spec.n FieldValueInvalid'], '4.0')
})

t.test('an object that would take too long is refused', async (t) => {
  const branch: JsonSchema = { items: { properties: { a: { minLength: 1 } } } }
  const schema: JsonSchema = {
    type: 'array',
    items: { type: 'object', properties: { a: TEXT } },
    allOf: new Array(3000).fill(branch),
  }
  const value = Array.from({ length: 20_000 }, () => ({ a: 'x' }))
  t.strictSame(wrongWith(schema, value), ['<nil> FieldValueInvalid'])
  const pattern: JsonSchema = { ...TEXT, pattern: '[a-z]{1000}x' }
  t.strictSame(wrongWith(pattern, 'a'.repeat(3_000_000)), ['<nil> FieldValueInvalid'])
  const many = ofSpec({ type: 'array', items: WHOLE }).validate(objectOf(new Array(50_000).fill('x')))
  t.ok(many.errors.length < 5000, 'nor are there endless complaints')
})
