import t from 'tap'
import { DecodedSizeError } from '#keelson/api/decoded-size.js'
import { DecodeError } from '#keelson/api/json/decode-error.js'
import type { JsonObject } from '#keelson/api/object.js'
import { compileSchema } from '#keelson/apiextensions/schema/compile-schema.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { admitted, builtin, bytesOf, objectOf, ofObject, ofSpec } from '../compiled.js'

const TEXT: JsonSchema = { type: 'string' }
const KEEPS: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

t.test('unknown fields are taken out and told by path, sorted', async (t) => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { a: TEXT, list: { type: 'array', items: { type: 'object', properties: { b: TEXT } } } },
  }
  const { spec, said } = admitted(schema, { zz: 1, a: 'x', list: [{ b: 'y', c: { d: 1 } }, { e: null }], aa: {} })
  t.strictSame(spec, { a: 'x', list: [{ b: 'y' }, {}] })
  t.strictSame(said, [
    'unknown field "spec.aa"',
    'unknown field "spec.list[0].c"',
    'unknown field "spec.list[1].e"',
    'unknown field "spec.zz"',
  ])
})

t.test('a key that is given twice is told before what is unknown, at any depth', async (t) => {
  const schema = ofSpec({ ...KEEPS, properties: { a: TEXT } })
  const text = '{"kind":"W","kind":"W","spec":{"a":"1","free":{"x":1,"x":2},"a":"2"},"more":{}}'
  const { object, strictErrors } = schema.decode(Buffer.from(text))
  t.strictSame(strictErrors, [
    'duplicate field "kind"',
    'duplicate field "spec.free.x"',
    'duplicate field "spec.a"',
    'unknown field "more"',
  ])
  t.strictSame(object, { kind: 'W', spec: { a: '2', free: { x: 2 } } })
})

t.test('fields are preserved where the schema says so, and known ones within are still pruned', async (t) => {
  const inner: JsonSchema = { type: 'object', properties: { x: TEXT } }
  const schema: JsonSchema = { ...KEEPS, properties: { inner, list: { type: 'array', items: inner } } }
  const value = { free: { any: [{ thing: 1 }] }, inner: { x: 'a', y: 1 }, list: [{ x: 'a', y: 1 }] }
  const { spec, said } = admitted(schema, value)
  t.strictSame(spec, { free: { any: [{ thing: 1 }] }, inner: { x: 'a' }, list: [{ x: 'a' }] })
  t.strictSame(said, ['unknown field "spec.inner.y"', 'unknown field "spec.list[0].y"'])
  const list: JsonSchema = { type: 'array', items: inner, 'x-kubernetes-preserve-unknown-fields': true }
  t.strictSame(
    admitted(list, [{ x: 'a', y: 1 }]).spec,
    [{ x: 'a', y: 1 }],
    'a list that preserves keeps what its items have',
  )
})

t.test(
  'additionalProperties: values by their schema; where it is only `true`, objects among them are emptied',
  async (t) => {
    const typed: JsonSchema = { type: 'object', additionalProperties: { type: 'object', properties: { a: TEXT } } }
    t.strictSame(admitted(typed, { k: { a: '1', b: 2 } }).spec, { k: { a: '1' } })
    const open: JsonSchema = { type: 'object', additionalProperties: true }
    t.strictSame(admitted(open, { k: { a: 1 }, l: [{ b: 1 }], s: 1, n: null }).spec, { k: {}, l: [{}], s: 1, n: null })
  },
)

t.test('a null that may not be there goes, unless a default takes its place; in lists it stays', async (t) => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      plain: TEXT,
      nullable: { ...TEXT, nullable: true },
      defaulted: { ...TEXT, default: 'd' },
      both: { ...TEXT, nullable: true, default: 'd' },
      list: { type: 'array', items: TEXT },
      filled: { type: 'array', items: { ...TEXT, default: 'i' } },
      map: { type: 'object', additionalProperties: TEXT },
    },
  }
  const value = {
    plain: null,
    nullable: null,
    defaulted: null,
    both: null,
    list: [null],
    filled: [null],
    map: { a: null },
  }
  t.strictSame(admitted(schema, value).spec, {
    nullable: null,
    defaulted: 'd',
    both: null,
    list: [null],
    filled: ['i'],
    map: {},
  })
})

t.test('defaults stand for what is missing, and for what is missing in defaults', async (t) => {
  const inner: JsonSchema = { type: 'object', default: {}, properties: { n: { type: 'integer', default: 3 } } }
  const schema: JsonSchema = {
    type: 'object',
    properties: { inner, given: inner, items: { type: 'array', items: inner }, none: { ...TEXT, default: null } },
  }
  const { spec } = admitted(schema, { given: { n: 7 }, items: [{}, { n: 1 }] })
  t.strictSame(spec, { given: { n: 7 }, items: [{ n: 3 }, { n: 1 }], inner: { n: 3 } })
  const compiled = ofSpec(schema)
  const [one, two] = [compiled.decode(bytesOf({})).object, compiled.decode(bytesOf({})).object]
  ;((one['spec'] as JsonObject)['inner'] as JsonObject)['n'] = 9
  t.strictSame((two['spec'] as JsonObject)['inner'], { n: 3 }, 'a default is nobody’s to change')
  const empty = objectOf({})
  compiled.setDefaults(empty)
  t.strictSame(empty['spec'], { inner: { n: 3 }, given: { n: 3 } })
})

t.test('defaults on the way from storage; none, and no word, on the way from another version', async (t) => {
  const schema = ofSpec({ type: 'object', properties: { a: { ...TEXT, default: 'd' }, b: { ...TEXT, default: 'e' } } })
  const stored = objectOf({ b: null, zz: 1 })
  t.strictSame(schema.admit(stored, { origin: 'stored' }).strictErrors, [])
  t.strictSame(stored['spec'], { b: 'e', a: 'd' })
  const converted = objectOf({ b: null, zz: 1 })
  t.strictSame(schema.admit(converted, { origin: 'converted' }).strictErrors, [])
  t.strictSame(converted['spec'], { b: null })
})

t.test('metadata of the object has its own type: unknown fields, empty ones, wrong ones', async (t) => {
  const schema = ofSpec(KEEPS)
  const metadata = { name: 'w', labels: {}, annotations: { a: 'b' }, zz: 1, ownerReferences: [{ uid: 'u', yy: 1 }] }
  const { object, strictErrors } = schema.decode(Buffer.from(JSON.stringify(objectOf({}, { metadata, aa: 1 }))))
  t.match(object['metadata'], { name: 'w', annotations: { a: 'b' } })
  t.notOk(Object.hasOwn(object['metadata'] as JsonObject, 'labels'))
  t.strictSame(strictErrors, [
    'unknown field "metadata.zz"',
    'unknown field "metadata.ownerReferences[0].yy"',
    'unknown field "aa"',
  ])
  const wrong = { metadata: { name: 'w', labels: [], finalizers: ['f'] } }
  t.throws(() => schema.admit(objectOf({}, structuredClone(wrong)), { origin: 'request' }), DecodeError)
  const stored = objectOf({}, structuredClone(wrong))
  schema.admit(stored, { origin: 'stored' })
  t.strictSame(
    stored['metadata'],
    { name: 'w', finalizers: ['f'], generation: 1 },
    'what is stored loses what does not fit',
  )
  t.throws(() => schema.decode(Buffer.from('{"kind":5}')), DecodeError)
  t.throws(() => schema.decode(Buffer.from('[]')), DecodeError)
})

t.test('an embedded object keeps kind and version, and metadata as its type has it', async (t) => {
  const schema: JsonSchema = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: { spec: { type: 'object', properties: { a: TEXT } } },
  }
  const metadata = { name: 'n', creationTimestamp: null, labels: {}, zz: { y: 1 } }
  const { spec, said } = admitted(schema, { apiVersion: 'v1', kind: 'K', metadata, spec: { a: 'b', c: 1 }, more: 1 })
  t.strictSame(spec, { apiVersion: 'v1', kind: 'K', metadata: { name: 'n' }, spec: { a: 'b' } })
  t.strictSame(said, ['unknown field "spec.more"', 'unknown field "spec.spec.c"', 'unknown field "spec.metadata.zz"'])
  t.throws(() => admitted(schema, { kind: 1 }), DecodeError)
  t.throws(() => admitted(schema, { metadata: 'x' }), DecodeError)
  t.strictSame(admitted(schema, { metadata: null }).spec, { metadata: {} })
  const stored = objectOf({ kind: 1, apiVersion: 'v1', metadata: { name: 5, namespace: 'n' } })
  ofSpec(schema).admit(stored, { origin: 'stored' })
  t.strictSame(stored['spec'], { apiVersion: 'v1', metadata: { namespace: 'n' } })
})

t.test('a definition that preserves everything prunes nothing, and still has defaults', async (t) => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { ...TEXT, default: 'd' } } } },
  }
  const compiled = compileSchema(schema, { builtin, preserveUnknownFields: true })
  const { object, strictErrors } = compiled.decode(bytesOf({ x: { y: [{ z: null }] }, b: null }))
  t.strictSame(object['spec'], { x: { y: [{ z: null }] }, b: null, a: 'd' })
  t.strictSame(strictErrors, [])
  t.strictSame(
    compileSchema(undefined, { builtin, preserveUnknownFields: true }).decode(bytesOf({ a: 1 })).object['spec'],
    { a: 1 },
  )
})

t.test('large integers and odd names come through', async (t) => {
  const schema = ofObject({
    type: 'object',
    properties: { spec: { type: 'object', additionalProperties: { type: 'integer' } } },
  })
  const text = '{"spec":{"big":9007199254740993,"__proto__":1,"constructor":2,"":3}}'
  const spec = schema.decode(Buffer.from(text)).object['spec'] as JsonObject
  t.equal(spec['big'], 9007199254740993n)
  t.strictSame(Object.keys(spec), ['big', '__proto__', 'constructor', ''])
  const defaulted = ofSpec({ type: 'object', properties: { constructor: { ...TEXT, default: 'c' } } as never })
  t.strictSame(
    defaulted.decode(bytesOf({})).object['spec'],
    { constructor: 'c' },
    'a name that every object inherits is not there',
  )
})

t.test('defaults that multiply are stopped', async (t) => {
  let schema: JsonSchema = { ...TEXT, default: 'x' }
  for (let i = 0; i < 6; i++) schema = { type: 'array', items: schema, default: new Array(20).fill(null) }
  t.throws(() => admitted({ type: 'object', properties: { a: schema } }, {}), DecodedSizeError)
})

t.test('an object of another kind or group is left as it came, of another version nothing is known', async (t) => {
  const kind = { group: 'example.com', version: 'v1', kind: 'Widget', versions: ['v1', 'v1beta1'] }
  const schema: JsonSchema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'integer', default: 1 } } } },
  }
  const decoded = (apiVersion: string, own: string): unknown[] => {
    const body = Buffer.from(JSON.stringify({ apiVersion, kind: own, spec: { z: 1 } }))
    const { object, strictErrors } = compileSchema(schema, { builtin, kind }).decode(body)
    return [object['spec'], ...strictErrors]
  }
  t.strictSame(decoded('example.com/v1', 'Widget'), [{ a: 1 }, 'unknown field "spec.z"'])
  t.strictSame(decoded('', ''), [{ a: 1 }, 'unknown field "spec.z"'])
  t.strictSame(decoded('example.com/v1', 'Gadget'), [{ z: 1 }])
  t.strictSame(decoded('other.com/v1', 'Widget'), [{ z: 1 }])
  t.strictSame(decoded('example.com/v1beta1', 'Widget'), [{ z: 1 }])
  t.strictSame(decoded('example.com/v7', 'Widget'), [undefined, 'unknown field "spec"'])
})

t.test('a null for the kind of an embedded object is refused, though its schema has a default', async (t) => {
  const schema = ofSpec({
    ...KEEPS,
    'x-kubernetes-embedded-resource': true,
    properties: { kind: { ...TEXT, default: 'Pod' } },
  })
  t.throws(() => schema.admit(objectOf({ apiVersion: 'v1', kind: null }), { origin: 'request' }), DecodeError)
  const stored = objectOf({ apiVersion: 'v1', kind: null })
  schema.admit(stored, { origin: 'stored' })
  t.strictSame(stored['spec'], { apiVersion: 'v1', kind: 'Pod' })
})
