import t from 'tap'
import { documentedList, documentedObject } from '#keelson/apiextensions/documents/published-schema.js'

const version = {
  kind: { group: 'example.com', version: 'v1', kind: 'Widget' },
  listKind: 'WidgetRoll',
  plural: 'widgets',
  typeName: 'com.example.v1.Widget',
  listTypeName: 'com.example.v1.WidgetRoll',
  selectableFields: ['spec.color'],
  preserveUnknownFields: false,
  schema: {
    type: 'object',
    description: 'A thing.',
    properties: {
      spec: {
        type: 'object',
        required: ['size'],
        properties: {
          size: { type: 'integer', default: 3, description: 'how large' },
          port: { 'x-kubernetes-int-or-string': true },
          maybe: { type: 'string', nullable: true },
          any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
          pod: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          list: { type: 'array', items: { type: 'object', properties: { __proto__: null, k: { type: 'string' } } } },
          constructor: { type: 'string' },
        },
      },
    },
  },
} as const

const reference = (name: string) => ({ $ref: `#/${name}` })
type Tree = { readonly [name: string]: Tree } & { readonly type?: string }
const specOf = (openApi: 2 | 3): Tree =>
  (documentedObject(version as never).schema(openApi, reference) as unknown as Tree)['properties']!['spec']!

t.test('version 3 has all that the definition says, and what every object has', async (t) => {
  const printed = documentedObject(version as never).schema(3, reference)
  t.match(printed, {
    description: 'A thing.',
    properties: { metadata: { allOf: [{ $ref: /ObjectMeta$/ }] }, kind: { type: 'string' }, apiVersion: {} },
    'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
    'x-kubernetes-selectable-fields': [{ fieldPath: 'spec.color' }],
  })
  t.match(specOf(3), {
    required: ['size'],
    properties: {
      size: { default: 3, description: 'how large' },
      port: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      maybe: { nullable: true, type: 'string' },
      any: { properties: { a: { type: 'string' } } },
      pod: { required: ['kind', 'apiVersion'], properties: { metadata: { allOf: [{ $ref: /ObjectMeta$/ }] } } },
      labels: { additionalProperties: { type: 'string' } },
      list: { items: { properties: { k: { type: 'string' } } } },
    },
  })
  t.same(specOf(3)['properties']!['constructor'], { type: 'string' })
})

t.test('version 2 leaves out what it cannot say', async (t) => {
  const { size, port, maybe, any } = specOf(2)['properties'] as unknown as Record<string, object>
  t.same(size, { type: 'integer', description: 'how large' })
  t.same(port, { 'x-kubernetes-int-or-string': true })
  t.same(maybe, {})
  t.same(any, { type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
})

t.test('a list names its items', async (t) => {
  const list = documentedList(version as never)
  t.equal(list.name, 'com.example.v1.WidgetRoll')
  t.same(list.items, version.kind)
  t.match(list.schema(3, reference), {
    required: ['items'],
    properties: { items: { items: { $ref: '#/com.example.v1.Widget' } } },
    'x-kubernetes-group-version-kind': [{ kind: 'WidgetRoll' }],
  })
})
