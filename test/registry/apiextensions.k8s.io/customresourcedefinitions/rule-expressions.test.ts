/** Rules of a definition that is written: whether they compile, what they may cost, and what an update may keep. */
import t from 'tap'
import { FieldPath } from '#keelson/api/field-error.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import {
  type RuleOptions,
  ruleExpressionErrors,
} from '#keelson/registry/apiextensions.k8s.io/customresourcedefinitions/rule-expressions.js'

const NEW: RuleOptions = {
  stored: { rules: new Set(), messageExpressions: new Set() },
  isUnchanged: false,
  faulty: new Set(),
}
const text: JsonSchema = { type: 'string', maxLength: 10 }
const ruled = (schema: JsonSchema, ...rules: string[]): JsonSchema => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => ({ rule })),
})

function wrongWith(spec: JsonSchema, options: Partial<RuleOptions> = {}): string[] {
  const schema: JsonSchema = { type: 'object', properties: { spec } }
  return ruleExpressionErrors(schema, FieldPath.of('at'), { ...NEW, ...options }).map(
    ({ field, type }) =>
      `${field.replace('at.properties[spec]', 'spec').replace('x-kubernetes-validations', 'rules')} ${type}`,
  )
}

t.test('an expression is of the type of its value and says yes or no', async (t) => {
  t.strictSame(wrongWith(ruled(text, "self == 'x'")), [])
  for (const rule of ['self == 1', 'self', 'dyn(self)', 'self ==', 'other', 'self.a'])
    t.strictSame(wrongWith(ruled(text, rule)), ['spec.rules[0].rule FieldValueInvalid'], rule)
  t.strictSame(wrongWith(ruled({ 'x-kubernetes-preserve-unknown-fields': true }, 'true')), ['spec.rules InternalError'])
})

t.test('a messageExpression is a string, and is looked at when its rule is right', async (t) => {
  const said = (rule: string, messageExpression: string): string[] =>
    wrongWith({ ...text, 'x-kubernetes-validations': [{ rule, messageExpression }] })
  t.strictSame(said('true', 'self'), [])
  t.strictSame(said('true', 'size(self)'), ['spec.rules[0].messageExpression FieldValueInvalid'])
  t.strictSame(said('1', 'nothing'), ['spec.rules[0].rule FieldValueInvalid'])
  const long = { ...text, maxLength: 3_000_000 }
  const dear = wrongWith({
    ...long,
    'x-kubernetes-validations': [{ rule: 'true', messageExpression: "self.replace('a', self).replace('b', self)" }],
  })
  t.ok(dear.includes('spec.rules[0].messageExpression FieldValueForbidden'))
})

t.test('oldSelf is for values that have an old one', async (t) => {
  const rule = 'self == oldSelf'
  const list = (listType: string): JsonSchema => ({
    type: 'array',
    maxItems: 5,
    'x-kubernetes-list-type': listType,
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', properties: { k: ruled(text, rule) } },
  })
  t.strictSame(wrongWith(list('map')), [])
  t.strictSame(wrongWith(list('set')), ['spec.items.properties[k].rules[0].rule FieldValueInvalid'])
  t.strictSame(wrongWith(ruled(list('map'), 'size(oldSelf) > 0')), [], 'the list itself has one')
  const atomic: JsonSchema = { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { k: ruled(text, rule) } }
  t.strictSame(wrongWith(atomic), [], 'fields of an atomic object, too')
  const optional = { ...text, 'x-kubernetes-validations': [{ rule: 'true', optionalOldSelf: true }] }
  t.strictSame(wrongWith(optional), ['spec.rules[0].optionalOldSelf FieldValueInvalid'])
})

t.test('the cost of a rule is that of one value times how many there can be', async (t) => {
  const item = ruled({ type: 'string', maxLength: 1000 }, "self.contains('x')")
  const array = (items: JsonSchema, maxItems?: number): JsonSchema => ({
    type: 'array',
    items,
    ...(maxItems === undefined ? {} : { maxItems }),
  })
  const tooMuch = (prefix: string): string => `spec.${prefix}.rules[0].rule FieldValueForbidden`
  t.strictSame(wrongWith(array(item, 1000)), [])
  t.strictSame(wrongWith(array(item, 100_000)), [tooMuch('items')])
  t.strictSame(wrongWith(array(array(item, 1000), 100)), [tooMuch('items.items')])
  t.ok(wrongWith(array(item)).includes(tooMuch('items')), 'without bound: as many as fit into a request')
  const map: JsonSchema = { type: 'object', additionalProperties: item }
  t.strictSame(wrongWith({ ...map, maxProperties: 1000 }), [])
  t.strictSame(wrongWith({ ...map, maxProperties: 100_000 }), [tooMuch('additionalProperties')])
})

t.test('all rules of a schema together may cost ten times as much as one; the dearest are named', async (t) => {
  const dear = ruled({ type: 'array', maxItems: 2_000_000, items: { type: 'boolean' } }, 'self.all(x, x)')
  const properties = Object.fromEntries(Array.from({ length: 13 }, (_, i) => [`p${i}`, dear]))
  const errors = wrongWith({ type: 'object', properties })
  t.equal(errors.filter((one) => one.endsWith('FieldValueForbidden')).length, 5)
  t.ok(errors.includes('at FieldValueForbidden'))
  t.strictSame(wrongWith({ type: 'object', properties: { a: dear } }), [])
})

t.test('a schema that did not change may have rules that cost more, up to the limit of all', async (t) => {
  const dear = ruled({ type: 'array', maxItems: 10_000_000, items: { type: 'boolean' } }, 'self.all(x, x)')
  t.strictSame(wrongWith(dear), ['spec.rules[0].rule FieldValueForbidden'])
  t.strictSame(wrongWith(dear, { isUnchanged: true }), [])
})

t.test('schemas with faults are passed over, with all above them', async (t) => {
  const inner = ruled(text, 'wrong')
  const outer = ruled({ type: 'object', properties: { inner } }, 'wrong')
  t.equal(wrongWith(outer).length, 2)
  t.strictSame(wrongWith(outer, { faulty: new Set([outer]) }), [
    'spec.properties[inner].rules[0].rule FieldValueInvalid',
  ])
})
