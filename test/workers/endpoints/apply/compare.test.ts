import t from 'tap'
import { fieldSet, namedFields } from '#keelson/api/managed-fields/field-set.js'
import type { JsonObject } from '#keelson/api/object.js'
import { compare, presence } from '#keelson/workers/endpoints/apply/compare.js'
import { map, scalar, workload } from '../patch/schemas.js'

const NOTHING = { added: {}, modified: {}, removed: {} }
const of = (before: JsonObject, after: JsonObject) => compare(workload, { spec: before }, { spec: after })
const labels = (before: JsonObject, after: JsonObject) => compare(map(scalar()), before, after)

t.test('equal objects differ in nothing, in whatever order they are written', async (t) => {
  t.strictSame(of({ replicas: 1, revision: 2 }, { revision: 2, replicas: 1 }), NOTHING)
  t.strictSame(of({ revision: 5 }, { revision: 5n }), NOTHING, 'nor do two forms of one number')
})

t.test('leaves are added, changed and removed', async (t) => {
  t.strictSame(labels({ a: '1', b: '2' }, { b: '3', c: '4' }), {
    added: namedFields('c'),
    modified: namedFields('b'),
    removed: namedFields('a'),
  })
})

t.test('atomic parts change as a whole', async (t) => {
  const changed = { ...NOTHING, modified: namedFields('spec.tolerations') }
  t.strictSame(of({ tolerations: [1, 2] }, { tolerations: [2, 1] }), changed)
  t.strictSame(of({ nodeSelector: { a: '1' } }, { nodeSelector: { a: '1', b: '2' } }), {
    ...NOTHING,
    modified: namedFields('spec.nodeSelector'),
  })
})

t.test('items are found by their keys', async (t) => {
  const a = { name: 'a', image: 'x' }
  const b = { name: 'b' }
  t.strictSame(of({ containers: [a, b] }, { containers: [b, { ...a, image: 'y' }] }), {
    ...NOTHING,
    modified: fieldSet(['f:spec', 'f:containers', 'k:{"name":"a"}', 'f:image']),
  })
})

t.test('null, empty and absent are three things', async (t) => {
  const changed = { ...NOTHING, modified: namedFields('spec.containers') }
  t.strictSame(of({ containers: null }, { containers: [] }), changed)
  t.strictSame(of({ containers: [] }, {}), { ...NOTHING, removed: namedFields('spec.containers') })
  t.strictSame(of({}, { containers: null }), { ...NOTHING, added: namedFields('spec.containers') })
})

t.test('an open part that became something else is changed, with what was below it', async (t) => {
  t.strictSame(of({ data: { a: 1 } }, { data: 5 }), {
    added: {},
    modified: namedFields('spec.data'),
    removed: namedFields('spec.data.a'),
  })
})

t.test('a key may be called as anything that every object has', async (t) => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const members = JSON.parse(`{"${name}":"x"}`) as JsonObject
    const other = JSON.parse(`{"${name}":"y"}`) as JsonObject
    t.strictSame(labels({}, members), { ...NOTHING, added: namedFields(name) }, name)
    t.strictSame(labels({ a: '1' }, { a: '1', ...members }), { ...NOTHING, added: namedFields(name) }, name)
    t.strictSame(labels({ a: '1', ...members }, { a: '1' }), { ...NOTHING, removed: namedFields(name) }, name)
    t.strictSame(labels(members, other), { ...NOTHING, modified: namedFields(name) }, name)
    t.strictSame(labels(members, { ...members }), NOTHING, name)
  }
})

t.test('all fields of a value, those on the way included, in the order of FieldsV1', async (t) => {
  const set = presence(workload, { spec: { replicas: 1, containers: [{ name: 'b' }, { name: 'a' }] } })
  t.equal(
    JSON.stringify(set),
    '{".":{},"f:spec":{".":{},"f:containers":{".":{},"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{}},"k:{\\"name\\":\\"b\\"}":{".":{},"f:name":{}}},"f:replicas":{}}}',
  )
})

t.test('an item that occurs twice is one field', async (t) => {
  const twice = [{ name: 'a', image: 'x' }, { name: 'a' }]
  t.strictSame(of({ containers: twice }, { containers: structuredClone(twice) }), NOTHING)
  const element = ['f:spec', 'f:containers', 'k:{"name":"a"}']
  t.strictSame(of({ containers: twice }, { containers: [...twice, { name: 'a' }] }), {
    ...NOTHING,
    modified: fieldSet(element),
  })
})
