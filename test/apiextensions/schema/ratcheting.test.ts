import t from 'tap'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { objectOf, ofObject, told, wrongWith } from '../compiled.js'

const SHORT: JsonSchema = { type: 'string', maxLength: 3 }
const item: JsonSchema = { type: 'object', properties: { k: { type: 'string' }, v: SHORT, w: SHORT }, required: ['k'] }

t.test('what did not change is not held against a stricter schema', async (t) => {
  const schema: JsonSchema = { type: 'object', properties: { a: SHORT, b: SHORT } }
  t.strictSame(wrongWith(schema, { a: 'toolong', b: 'x' }, { a: 'toolong' }), [])
  t.strictSame(wrongWith(schema, { a: 'toolong', b: 'longer' }, { a: 'toolong' }), ['spec.b FieldValueTooLong'])
  t.strictSame(wrongWith(schema, { a: 'tooolong' }, { a: 'toolong' }), ['spec.a FieldValueTooLong'])
})

t.test('items of lists of type map belong together by key, of others they do not', async (t) => {
  const list = (type: string): JsonSchema => ({
    type: 'array',
    items: item,
    'x-kubernetes-list-type': type,
    ...(type === 'map' ? { 'x-kubernetes-list-map-keys': ['k'] } : {}),
  })
  const old = [{ k: 'a', v: 'toolong' }]
  const next = [{ k: 'b' }, { k: 'a', v: 'toolong', w: 'x' }]
  t.strictSame(wrongWith(list('map'), next, old), [])
  t.strictSame(wrongWith(list('atomic'), next, old), ['spec[1].v FieldValueTooLong'])
  t.strictSame(wrongWith(list('atomic'), structuredClone(old), old), [], 'unless the whole list is the same')
  const [a, b] = [{ k: 'a', v: 'toolong' }, { k: 'b' }]
  t.strictSame(wrongWith({ ...list('map'), maxItems: 1 }, [a, b], [b, a]), [], 'in another order it is the same')
})

t.test('required fields and alternatives of a changed object are not ratcheted', async (t) => {
  const schema: JsonSchema = { type: 'object', properties: { a: SHORT, b: { type: 'string' } }, required: ['c'] }
  t.strictSame(wrongWith(schema, { b: 'y' }, { b: 'x' }), ['spec.c FieldValueRequired'])
  t.strictSame(wrongWith(schema, { b: 'x' }, { b: 'x' }), [])
  const either: JsonSchema = {
    type: 'object',
    properties: { a: SHORT, b: SHORT },
    allOf: [{ properties: { a: { minLength: 2 } } }],
  }
  t.strictSame(wrongWith(either, { a: 'x', b: 'y' }, { a: 'x' }), [
    'spec.a FieldValueInvalid',
    '<nil> FieldValueInvalid',
  ])
})

t.test('fields that the schema does not know make an object a changed one', async (t) => {
  const schema: JsonSchema = { type: 'object', properties: { b: { type: 'string' } }, required: ['c'] }
  const open: JsonSchema = { ...schema, 'x-kubernetes-preserve-unknown-fields': true }
  t.strictSame(wrongWith(open, { b: 'x', z: 1 }, { b: 'x', z: 1 }), ['spec.c FieldValueRequired'])
})

t.test('lists that had values twice may keep them, all of them', async (t) => {
  const set: JsonSchema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }
  const schema: JsonSchema = { type: 'object', properties: { a: set, b: set } }
  t.strictSame(wrongWith(schema, { b: ['x', 'x'] }, { a: ['y', 'y'] }), [])
  t.strictSame(wrongWith(schema, { b: ['x', 'x'] }, { a: ['y'] }), ['spec.b[1] FieldValueDuplicate'])
})

t.test('kind and version are not ratcheted; status is, by itself', async (t) => {
  const schema = ofObject({
    type: 'object',
    properties: {
      kind: { type: 'string', maxLength: 2 },
      status: { type: 'object', properties: { a: SHORT, b: SHORT } },
    },
  })
  const old = objectOf({}, { status: { a: 'toolong' } })
  t.strictSame(told(schema.validate(structuredClone(old), { old }).errors), ['kind FieldValueTooLong'])
  const next = objectOf({}, { status: { a: 'toolong', b: 'toolong' } })
  t.strictSame(told(schema.validate(next, { old, subresource: 'status' }).errors), ['status.b FieldValueTooLong'])
})
