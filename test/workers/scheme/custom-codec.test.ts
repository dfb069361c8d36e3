import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { printObject } from '#keelson/api/json/encode-draft.js'
import type { KubeObject } from '#keelson/api/object.js'
import type { ResourceDefinition } from '#keelson/api/resource-definition.js'
import { compileSchema } from '#keelson/apiextensions/schema/compile-schema.js'
import { CustomCodec } from '#keelson/workers/scheme/custom-codec.js'

const schema = compileSchema(
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', default: 3 },
          text: { type: 'string' },
          maybe: { type: 'string', nullable: true },
          parts: { type: 'array', items: { type: 'object', properties: { on: { type: 'boolean', default: true } } } },
        },
      },
    },
  },
  { builtin: new BuiltinSchemas() },
)
const definition = {
  group: 'example.com',
  resource: 'widgets',
  kind: 'Widget',
  storageVersion: 'v1',
} as unknown as ResourceDefinition
const codec = new CustomCodec(definition, () => schema)

const widget = (spec: object, metadata: object = {}): KubeObject => ({
  kind: 'Widget',
  apiVersion: 'example.com/v1',
  spec,
  metadata: { uid: 'u', name: 'w', generation: 1, creationTimestamp: '2026-01-02T03:04:05Z', ...metadata },
})

/** As it was before anything was printed ahead: encode, read, print. */
function slowly(object: KubeObject): { readonly data: string; readonly head: string; readonly tail: string } {
  const data = codec.encode(object)
  return { data: Buffer.from(data).toString(), ...printObject(codec.decode(data), schema.type) }
}

const OBJECTS: Readonly<Record<string, () => KubeObject>> = {
  'with all defaults': () => widget({ size: 1, text: '<é>&"', maybe: null, parts: [{ on: false }] }),
  'with labels and an annotation that looks like a revision': () =>
    widget({ size: 1 }, { labels: { b: '1', a: '2' }, annotations: { resourceVersion: '\u0000' } }),
  'with managers': () =>
    widget({ size: 1 }, { managedFields: [{ manager: 'm', operation: 'Update', fieldsV1: { 'f:spec': {} } }] }),
  'with a default missing': () => widget({ text: 'x' }),
  'with a default missing in a list': () => widget({ size: 1, parts: [{}] }),
  'with a null where none may be': () => widget({ size: null }),
  'with a field that nobody knows': () => widget({ size: 1, unknown: { a: 1 } }),
  'with a member that is undefined': () => widget({ size: undefined, text: 'x' }),
  'with empty lists in its metadata': () => widget({ size: 1 }, { finalizers: [], labels: {} }),
  'with metadata that does not fit': () => widget({ size: 1 }, { labels: { a: 1 }, name: 'w' }),
  'without a generation': () => widget({ size: 1 }, { generation: undefined }),
  'with half an owner': () => widget({ size: 1 }, { ownerReferences: [{ name: 'o' }] }),
}

for (const [what, make] of Object.entries(OBJECTS)) {
  t.test(`an object ${what} is printed as it will be read, or it has to be read`, (t) => {
    const { data, printed } = codec.encodePrinted(make())
    const expected = slowly(make())
    t.equal(Buffer.from(data).toString(), expected.data, 'the bytes are the same')
    if (printed !== undefined) t.same(printed, { head: expected.head, tail: expected.tail })
    t.end()
  })
}

t.test('an object that has all that reading would put in is not read', (t) => {
  for (const what of Object.keys(OBJECTS).slice(0, 3)) t.ok(codec.encodePrinted(OBJECTS[what]!()).printed, what)
  for (const what of Object.keys(OBJECTS).slice(3)) t.notOk(codec.encodePrinted(OBJECTS[what]!()).printed, what)
  t.end()
})
