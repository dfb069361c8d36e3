/** How long values can become, which is what the cost of a rule is estimated from. */
import t from 'tap'
import type { CelType } from '#keelson/api/cel/types.js'
import { RuleTypes } from '#keelson/apiextensions/rules/rule-types.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'

const REQUEST = 3 * 1024 * 1024
const typeOf = (schema: JsonSchema): CelType | undefined => new RuleTypes().typeOf(schema, 'self', false)
const most = (schema: JsonSchema): number | undefined => typeOf(schema)?.maxElements
const text: JsonSchema = { type: 'string' }

t.test('strings are as long as their schema says, in bytes, or as a request', async (t) => {
  t.equal(most(text), REQUEST - 2)
  t.equal(most({ ...text, maxLength: 10 }), 40)
  t.equal(most({ ...text, maxLength: -1 }), 0)
  t.equal(most({ ...text, enum: ['a', 'ab', 'é€'] }), 5)
  t.equal(most({ ...text, enum: ['a'], maxLength: 3 }), 12)
  t.equal(most({ ...text, format: 'byte', maxLength: 10 }), 10)
  t.equal(most({ ...text, format: 'date', maxLength: 1 }), 12)
  t.equal(most({ ...text, format: 'date-time' }), 32)
  t.equal(most({ ...text, format: 'duration' }), 32)
  t.equal(most({ 'x-kubernetes-int-or-string': true }), REQUEST - 2)
  t.equal(most({ 'x-kubernetes-int-or-string': true, maxLength: 3 }), 12)
})

t.test('lists and maps have as many parts as fit into a request, when their schema does not say', async (t) => {
  t.equal(most({ type: 'array', items: text }), Math.trunc((REQUEST - 2) / 3))
  t.equal(most({ type: 'array', items: { type: 'boolean' } }), Math.trunc((REQUEST - 2) / 5))
  t.equal(most({ type: 'array', items: text, maxItems: 5 }), 5)
  t.equal(most({ type: 'object', additionalProperties: text }), Math.trunc((REQUEST - 2) / 8))
  t.equal(most({ type: 'object', additionalProperties: text, maxProperties: 5 }), 5)
})

t.test('an object is as small as what it requires and has no default for', async (t) => {
  const properties = { abc: text, d: { type: 'integer' }, e: { type: 'integer', default: 1 }, f: text }
  const schema: JsonSchema = { type: 'object', properties, required: ['abc', 'd', 'e'] }
  t.equal(typeOf(schema)?.minSerializedSize, 2 + (3 + 2 + 4) + (1 + 1 + 4))
})

t.test('what has no type is not seen, and neither is what consists of it', async (t) => {
  const open: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true }
  t.equal(typeOf(open), undefined)
  t.equal(typeOf({ type: 'array', items: open }), undefined)
  t.equal(typeOf({ type: 'object', additionalProperties: open }), undefined)
  const type = typeOf({ type: 'object', properties: { open, 'no name!': text, a: text } })
  t.strictSame(type?.kind === 'object' ? [...type.fields.keys()] : [], ['a'])
})
