import t from 'tap'
import type { StructSchema, TypeSchema } from '#keelson/api/schema.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { ofSpec } from '../compiled.js'

/** The type of a field below spec. */
function typeAt(properties: Record<string, JsonSchema>, name: string, rest: JsonSchema = {}): TypeSchema {
  const spec = ofSpec({ type: 'object', properties, ...rest }).type.fields.get('spec')!.type as StructSchema
  return spec.fields.get(name)!.type
}

t.test('an object has what every object has', async (t) => {
  const { fields, name } = ofSpec({ type: 'object' }).type
  t.equal(name, 'com.example.v1.Widget')
  t.strictSame([...fields.keys()], ['spec', 'apiVersion', 'kind', 'metadata'])
  const metadata = fields.get('metadata')!.type as StructSchema
  t.match(metadata.fields.get('ownerReferences')!.type, { kind: 'list', listType: 'map', mapKeys: ['uid'] })
  t.equal(metadata.fields.get('name')!.presence, undefined, 'and prints by key')
})

t.test('lists and maps as their tags say', async (t) => {
  const items: JsonSchema = { type: 'object', properties: { k: { type: 'string', default: 'd' } } }
  const list = typeAt(
    { a: { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] } },
    'a',
  )
  t.match(list, { kind: 'list', listType: 'map', mapKeys: ['k'], untagged: false })
  t.equal(list.kind === 'list' && list.items.kind === 'struct' && list.items.fields.get('k')!.default, 'd')
  t.match(typeAt({ a: { type: 'array', items } }, 'a'), { kind: 'list', listType: 'atomic', untagged: true })
  t.match(typeAt({ a: { type: 'array', items, 'x-kubernetes-list-type': 'set' } }, 'a'), { listType: 'set' })
  t.match(typeAt({ a: { ...items, 'x-kubernetes-map-type': 'atomic' } }, 'a'), { kind: 'struct', atomic: true })
  const map: JsonSchema = {
    type: 'object',
    additionalProperties: { type: 'integer' },
    'x-kubernetes-map-type': 'atomic',
  }
  t.match(typeAt({ a: map }, 'a'), { kind: 'map', atomic: true, values: { kind: 'int64' } })
})

t.test('what is open: objects of which nothing is said, and all below what preserves unknown fields', async (t) => {
  t.match(typeAt({ a: { type: 'object' } }, 'a'), { kind: 'map', values: { kind: 'any' } })
  t.match(typeAt({ a: { 'x-kubernetes-int-or-string': true } }, 'a'), { kind: 'any' })
  t.match(typeAt({ a: { type: 'string', format: 'date-time' } }, 'a'), { kind: 'int-or-string' })
  const inner: JsonSchema = { type: 'object', properties: { b: { type: 'string' } } }
  t.match(typeAt({ a: inner }, 'a'), { preserveUnknown: false })
  t.match(typeAt({ a: inner }, 'a', { 'x-kubernetes-preserve-unknown-fields': true }), { preserveUnknown: true })
})

t.test('embedded objects have kind, version and metadata', async (t) => {
  const type = typeAt(
    { a: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { x: { type: 'string' } } } },
    'a',
  )
  t.strictSame([...(type as StructSchema).fields.keys()], ['x', 'apiVersion', 'kind', 'metadata'])
})
