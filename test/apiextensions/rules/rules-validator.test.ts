/** Rules of schemas on objects: which are evaluated, on which values, and what is said when they do not hold. */
import t from 'tap'
import type { ValidationRule } from '#keelson/api/generated/kinds/apiextensions.v1.js'
import type { Json } from '#keelson/api/object.js'
import { describeFieldError } from '#keelson/api/status.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { objectOf, ofObject, ofSpec, wrongWith } from '../compiled.js'

const ruled = (schema: JsonSchema, ...rules: (string | ValidationRule)[]): JsonSchema => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
})
const int: JsonSchema = { type: 'integer' }
const text: JsonSchema = { type: 'string' }

/** `spec.a: Invalid value: …` of every error. */
function said(spec: JsonSchema, value: unknown, old?: unknown): string[] {
  const options = old === undefined ? {} : { old: objectOf(old as Json) }
  const { errors } = ofSpec(spec).validate(objectOf(value as Json), options)
  return errors.map((error) => `${error.field}: ${describeFieldError(error)}`)
}

t.test('a rule that does not hold is an error with its message, else with its source', async (t) => {
  t.strictSame(said(ruled(int, 'self > 2'), 3), [])
  t.strictSame(said(ruled(int, 'self > 2'), 1), ['spec: Invalid value: 1: failed rule: self > 2'])
  t.strictSame(said(ruled(int, { rule: 'self > 2', message: ' too small ' }), 1), ['spec: Invalid value: 1: too small'])
  const object = ruled({ type: 'object', properties: { a: int } }, 'self.a > 2')
  t.strictSame(said(object, { a: 1 }), ['spec: Invalid value: failed rule: self.a > 2'], 'objects are not shown')
})

t.test('every rule of a value is told, and those of parts after them', async (t) => {
  const schema = ruled({ type: 'object', properties: { a: ruled(int, 'self > 2', 'self > 3') } }, 'self.a > 4')
  t.strictSame(wrongWith(schema, { a: 1 }), [
    'spec FieldValueInvalid',
    'spec.a FieldValueInvalid',
    'spec.a FieldValueInvalid',
  ])
})

t.test('reason and fieldPath say what kind of error it is, and where', async (t) => {
  const schema = ruled(
    { type: 'object', properties: { a: int, m: { type: 'object', additionalProperties: int } } },
    { rule: 'false', reason: 'FieldValueForbidden', fieldPath: '.a' },
    { rule: 'false', reason: 'FieldValueRequired', fieldPath: ".m['x.y']" },
    { rule: 'false', reason: 'FieldValueDuplicate', fieldPath: '.m.z' },
    { rule: 'false', reason: 'FieldValueInvalid' },
  )
  t.strictSame(wrongWith(schema, { a: 1 }), [
    'spec.a FieldValueForbidden',
    'spec.m[x.y] FieldValueRequired',
    'spec.m[z] FieldValueDuplicate',
    'spec FieldValueInvalid',
  ])
})

t.test('a messageExpression makes the message, unless what it makes cannot be shown', async (t) => {
  const schema = ruled(
    int,
    { rule: 'self > 2', messageExpression: "'%d is too small'.format([self])" },
    { rule: 'self > 3', messageExpression: "' '", message: 'blank' },
    { rule: 'self > 4', messageExpression: "'a\\nb'", message: 'two lines' },
    { rule: 'self > 5', messageExpression: "'x'.split('x')[7]", message: 'failed' },
    { rule: 'self > 6', messageExpression: "'  ' + string(self) + ' '" },
  )
  t.strictSame(said(schema, 1), [
    'spec: Invalid value: 1: 1 is too small',
    'spec: Invalid value: 1: blank',
    'spec: Invalid value: 1: two lines',
    'spec: Invalid value: 1: failed',
    'spec: Invalid value: 1: 1',
  ])
})

t.test('rules of items, of values of maps, and of null', async (t) => {
  const nullable = { ...ruled(int, 'self > 2'), nullable: true }
  t.strictSame(wrongWith({ type: 'array', items: nullable }, [3, 1, null]), ['spec[1] FieldValueInvalid'])
  t.strictSame(wrongWith({ type: 'object', additionalProperties: nullable }, { a: 1, b: null, c: 3 }), [
    'spec[a] FieldValueInvalid',
  ])
})

t.test('rules see the names of the object, and of embedded ones, and nothing else of metadata', async (t) => {
  const root = ruled({ type: 'object' }, "self.metadata.name == 'w' && self.kind == 'Widget'", "self.apiVersion == ''")
  t.strictSame(
    ofObject(root)
      .validate(objectOf({}))
      .errors.map(({ field }) => field),
    ['<nil>'],
  )
  const embedded: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: text } }
  const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { a: 'b' } }, spec: 's' }
  t.strictSame(wrongWith(ruled(embedded, "self.metadata.name == 'p' && self.spec == 's'"), object), [])
  t.match(said(ruled(embedded, 'has(self.metadata.labels)'), object), [/rule compile error.*undefined field 'labels'/s])
})

t.test('rules of what every object has are evaluated, too', async (t) => {
  const named: JsonSchema = {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: ruled(text, "self != 'w'") } } },
  }
  t.strictSame(
    ofObject(named)
      .validate(objectOf({}))
      .errors.map(({ field }) => field),
    ['metadata.name'],
  )
})

t.test('a rule about a change is evaluated only where there is an old value', async (t) => {
  const schema: JsonSchema = { type: 'object', properties: { a: ruled(int, 'self >= oldSelf'), b: int } }
  t.strictSame(wrongWith(schema, { a: 1 }), [])
  t.strictSame(wrongWith(schema, { a: 1 }, { b: 1 }), [])
  t.strictSame(wrongWith(schema, { a: 1 }, { a: 2 }), ['spec.a FieldValueInvalid'])
  const optional: JsonSchema = {
    type: 'object',
    properties: { a: ruled(int, { rule: 'oldSelf.orValue(5) <= self', optionalOldSelf: true }) },
  }
  t.strictSame(wrongWith(optional, { a: 1 }), ['spec.a FieldValueInvalid'])
  t.strictSame(wrongWith(optional, { a: 1 }, { a: 1 }), [])
  t.strictSame(wrongWith(optional, { a: 1 }, { a: 2 }), ['spec.a FieldValueInvalid'])
})

t.test(
  'items of lists of type map have the old item with their keys, entries of maps that with their key',
  async (t) => {
    const item: JsonSchema = {
      type: 'object',
      required: ['k'],
      properties: { k: text, n: ruled(int, 'self >= oldSelf') },
    }
    const list: JsonSchema = {
      type: 'array',
      items: item,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }
    const old = [
      { k: 'a', n: 5 },
      { k: 'b', n: 1 },
    ]
    t.strictSame(
      wrongWith(
        list,
        [
          { k: 'b', n: 1 },
          { k: 'a', n: 4 },
          { k: 'c', n: 0 },
        ],
        old,
      ),
      ['spec[1].n FieldValueInvalid'],
    )
    t.strictSame(
      wrongWith({ ...list, 'x-kubernetes-list-type': 'atomic' }, [{ k: 'a', n: 4 }], old),
      [],
      'others have none',
    )
    const map: JsonSchema = { type: 'object', additionalProperties: ruled(int, 'self >= oldSelf') }
    t.strictSame(wrongWith(map, { a: 1, b: 1, c: 0 }, { a: 2, b: 1 }), ['spec[a] FieldValueInvalid'])
  },
)

t.test('what a rule finds wrong with a value that did not change is a warning', async (t) => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { a: ruled(int, 'self > 2'), b: int, c: ruled(int, 'self > oldSelf') },
  }
  const compiled = ofSpec(schema)
  const verdict = compiled.validate(objectOf({ a: 1, b: 2, c: 3 }), { old: objectOf({ a: 1, b: 1, c: 3 }) })
  t.strictSame(
    verdict.errors.map(({ field }) => field),
    ['spec.c'],
    'a rule about a change is one about every write',
  )
  t.strictSame(verdict.warnings, ['spec.a: Invalid value: 1: failed rule: self > 2'])
  t.strictSame(wrongWith(schema, { a: 0 }, { a: 1 }), ['spec.a FieldValueInvalid'])
})

t.test('items of an atomic list are as the list is: changed when anything in it is', async (t) => {
  const list: JsonSchema = {
    type: 'object',
    properties: { l: { type: 'array', items: ruled(int, 'self > 2') }, n: int },
  }
  t.strictSame(wrongWith(list, { l: [1], n: 2 }, { l: [1], n: 1 }), [])
  t.strictSame(wrongWith(list, { l: [1, 5] }, { l: [1] }), ['spec.l[0] FieldValueInvalid'])
})

t.test('an evaluation that fails is an error, also when nothing changed', async (t) => {
  const schema = ruled({ type: 'object', properties: { a: int, b: int } }, 'self.b > 0')
  t.strictSame(said(schema, { a: 1 }, { a: 1 }), [
    'spec: Invalid value: "object": no such key: b evaluating rule: self.b > 0',
  ])
  const either = ruled({ 'x-kubernetes-int-or-string': true }, 'self > 2')
  t.match(said(either, 'x'), [/no such overload.*did not match/])
})

t.test('values that are not what the schema says keep rules from being evaluated', async (t) => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { a: ruled({ type: 'integer', maximum: 5 }, 'self < 3'), s: { type: 'string', maxLength: 1 } },
  }
  t.strictSame(wrongWith(schema, { a: 6 }), ['spec.a FieldValueInvalid', 'spec.a FieldValueInvalid'])
  t.strictSame(wrongWith(schema, { a: 4, s: 'xy' }), ['spec.s FieldValueTooLong', '<nil> FieldValueInvalid'])
  t.strictSame(wrongWith(schema, { a: 'x' }), ['spec.a FieldValueTypeInvalid', '<nil> FieldValueInvalid'])
  const found = [{ type: 'FieldValueRequired', field: 'metadata.name', badValue: '', detail: '' } as const]
  const { errors } = ofSpec(schema).validate(objectOf({ a: 4 }), { found })
  t.strictSame(
    errors.map(({ field }) => field),
    ['<nil>'],
  )
})

t.test('one evaluation, and all of them together, may cost so much and no more', async (t) => {
  const list: JsonSchema = { type: 'array', items: text }
  const many = Array.from({ length: 3000 }, (_, i) => `${i}`)
  t.match(said(ruled(list, 'self.all(x, self.all(y, x + y != "no"))', 'false'), many), [/cost exceeds limit for rule/])
  const some = many.slice(0, 330)
  const dear = Array.from({ length: 40 }, (_, i) => `self.all(x, self.all(y, x != 'no${i}'))`)
  t.match(said(ruled(list, ...dear, 'false'), some), [/running out of cost budget/], 'and nothing more is evaluated')
})

t.test('escaped names, formats and list types are what rules see', async (t) => {
  const holds = (schema: JsonSchema, value: unknown, ...rules: string[]): boolean =>
    t.strictSame(said(ruled(schema, ...rules), value), [], rules.join())
  const odd = { 'a-b': int, 'a.b': int, 'a/b': int, namespace: int, __x: int, if: int }
  holds(
    { type: 'object', properties: odd },
    { 'a-b': 1, 'a.b': 2, 'a/b': 3, namespace: 4, __x: 5, if: 6 },
    'self.a__dash__b == 1 && self.a__dot__b == 2 && self.a__slash__b == 3',
    'self.__namespace__ == 4 && self.__underscores__x == 5 && self.__if__ == 6',
  )
  holds({ type: 'string', format: 'date' }, '2024-02-29', "self == timestamp('2024-02-29T00:00:00Z')")
  holds({ type: 'string', format: 'date-time' }, '2024-02-29T01:00:00+01:00', 'self.getHours() == 0')
  holds({ type: 'string', format: 'duration' }, '1 day', "self == duration('24h')")
  holds({ type: 'string', format: 'byte' }, 'AQI=', 'size(self) == 2')
  holds({ type: 'number' }, 3, 'type(self) == double && self == 3.0')
  const set: JsonSchema = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }
  holds(
    { type: 'object', properties: { a: set, b: set } },
    { a: ['x', 'y'], b: ['y', 'x'] },
    'self.a == self.b',
    "self.a + self.b == ['x', 'y']",
    'size(self.a + self.b + self.a) == 2',
  )
})

t.test('loops in loops take no longer to compile than they are long', async (t) => {
  const nested = `${Array.from({ length: 60 }, (_, i) => `self.all(x${i}, `).join('')}true${')'.repeat(60)}`
  const list: JsonSchema = { type: 'array', maxItems: 1, items: int }
  t.strictSame(wrongWith(ruled(list, nested), [1]), [])
})

t.test('rules that work much and cost little end with the budget, however many they are', async (t) => {
  const set: JsonSchema = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }
  const many = Array.from({ length: 20_000 }, (_, i) => `${i}`)
  const rules = Array.from({ length: 400 }, (_, i) => `(self + self + self).size() > ${i % 5}`)
  t.match(said(ruled(set, ...rules), many), [/running out of cost budget/])
})
