import t from 'tap'
import { BuiltinSchemas } from '#keelson/api/builtin-schema.js'
import { decodeTree } from '#keelson/api/json/decode.js'
import { encodeText } from '#keelson/api/json/encode.js'
import type { Json, JsonObject, KubeObject } from '#keelson/api/object.js'
import { decodeMessage } from '#keelson/api/protobuf/decode-message.js'
import { encodeMessage } from '#keelson/api/protobuf/encode-message.js'
import {
  decodeEnvelope,
  decodeProtobuf,
  encodeListProtobuf,
  encodeProtobuf,
  watchFrame,
} from '#keelson/api/protobuf/envelope.js'
import type { StructSchema } from '#keelson/api/schema.js'
import { fuzzSeed, Random } from '../../support/fuzz.js'
import { sampleObject } from './sample-object.js'

const schemas = new BuiltinSchemas()
const kind = (name: string, group = '', version = 'v1'): StructSchema => schemas.kind(group, version, name)!
const canonical = (tree: Json, schema: StructSchema): JsonObject => decodeTree(tree, schema).object as JsonObject
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

function* everyStruct(): Generator<StructSchema> {
  for (const packageName of schemas.packageNames())
    for (const name of schemas.definitionNames(packageName)) {
      const schema = schemas.definition(name)
      if (schema?.kind === 'struct') yield schema
    }
}

t.test('every type comes back from its bytes as it went in, whether all, some or none of its fields are set', (t) => {
  const random = new Random(fuzzSeed())
  let count = 0
  for (const schema of everyStruct()) {
    for (const chance of [100, 40, 0]) {
      const tree = canonical(sampleObject(schema, { random, chance }), schema)
      const bytes = encodeMessage(tree, schema)
      const decoded = decodeMessage(bytes, schema)
      t.equal(encodeText(decoded, schema), encodeText(tree, schema), schema.name)
      t.same(decoded, canonical(decoded, schema), `${schema.name}: the tree is canonical`)
      t.ok(encodeMessage(decoded, schema).equals(bytes), `${schema.name}: the bytes`)
    }
    count++
  }
  t.ok(count > 900, `${count} types`)
  t.end()
})

t.test('values that are no pointers are written even when zero, pointers when set', (t) => {
  t.same(encodeMessage({}, kind('ConfigMap')), hex('0a10 0a00 1200 1a00 2200 2a00 3200 3800 4200'))
  t.same(
    encodeMessage({ metadata: { name: 'a' }, immutable: false }, kind('ConfigMap')),
    hex('0a11 0a0161 1200 1a00 2200 2a00 3200 3800 4200 2000'),
  )
  const probe = schemas.definition('io.k8s.api.core.v1.Probe') as StructSchema
  t.same(
    encodeMessage({}, probe),
    hex('0a00 1000 1800 2000 2800 3000'),
    'an embedded struct is there with nothing in it',
  )
  t.end()
})

t.test('maps are written by the bytes of their keys', (t) => {
  const message = encodeMessage({ data: { '😀': '', '\ue000': '', b: '', a: '' } }, kind('ConfigMap'))
  const order = ['a', 'b', '\ue000', '😀'].map((key) => message.indexOf(Buffer.from(key)))
  t.same(
    order,
    [...order].sort((a, b) => a - b),
  )
  t.end()
})

t.test('a field that comes again takes the place of the first or adds to it, and unknown ones are passed over', (t) => {
  const schema = kind('ConfigMap')
  const first = encodeMessage({ metadata: { name: 'a', labels: { x: '1' } }, immutable: true }, schema)
  const second = encodeMessage({ metadata: { namespace: 'n', labels: { y: '2' } }, immutable: false }, schema)
  t.same(decodeMessage(Buffer.concat([first, second]), schema), {
    metadata: { namespace: 'n', labels: { x: '1', y: '2' } },
    immutable: false,
  })
  const unknown = hex('f8ff7f 01  f9ff7f 0102030405060708  faff7f 02 6161  fbff7f 0801 fcff7f  fdff7f 01020304')
  t.same(decodeMessage(Buffer.concat([unknown, first, unknown]), schema), decodeMessage(first, schema))
  t.end()
})

t.test('integers of 64 bits survive', (t) => {
  const schema = kind('ControllerRevision', 'apps')
  for (const revision of [9007199254740993n, 9223372036854775807n, -9223372036854775808n, -1, 0, 9007199254740991])
    t.same(decodeMessage(encodeMessage({ revision }, schema), schema)['revision'], revision)
  t.end()
})

t.test('times of every year from 0 to 9999 are read and written without loss', (t) => {
  const schema = kind('ConfigMap')
  const texts: string[] = []
  for (let ms = Date.UTC(2000, 0, 1); texts.length < 3000; ms += 86_399_000 * 977 + 11_000)
    texts.push(
      `${new Date(((ms + 62_167_219_200_000) % 315_569_519_999_000) - 62_167_219_200_000).toISOString().slice(0, 19)}Z`,
    )
  for (const year of ['0004', '1900', '2000', '2024', '2100', '9996'])
    for (const day of ['02-28', '03-01', '12-31', '01-01']) texts.push(`${year}-${day}T23:59:59Z`)
  for (const creationTimestamp of texts) {
    const bytes = encodeMessage({ metadata: { creationTimestamp } }, schema)
    const at = bytes.indexOf(Buffer.from([0x42]), 2)
    let seconds = 0n
    for (let i = at + 3, shift = 0n; ; i++, shift += 7n) {
      seconds |= BigInt(bytes[i]! & 0x7f) << shift
      if (bytes[i]! < 0x80) break
    }
    const expected = BigInt(Date.parse(creationTimestamp) / 1000)
    if (BigInt.asIntN(64, seconds) !== expected) t.fail(`${creationTimestamp} is written as ${seconds}`)
    const decoded = decodeMessage(bytes, schema)['metadata'] as JsonObject
    if (decoded['creationTimestamp'] !== creationTimestamp)
      t.fail(`${creationTimestamp} comes back as ${decoded['creationTimestamp']}`)
  }
  t.end()
})

t.test('an object names itself in its envelope', (t) => {
  const object: KubeObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { k: 'v' } }
  const bytes = encodeProtobuf(object, kind('ConfigMap'))
  t.equal(bytes.toString('latin1', 0, 4), 'k8s\0')
  t.same(
    decodeProtobuf(bytes, () => kind('ConfigMap')),
    { object, kind: 'ConfigMap', apiVersion: 'v1' },
  )
  t.throws(() => decodeProtobuf(bytes, () => undefined), { name: 'ProtobufError', message: /ConfigMap/ })
  t.end()
})

t.test('a list put together from encoded items is the list encoded as one', (t) => {
  const items = ['a', 'b'].map((name) => ({ metadata: { name }, data: { k: name.repeat(300) } }))
  const metadata = { resourceVersion: '17', remainingItemCount: 3 }
  const type = { kind: 'ConfigMapList', apiVersion: 'v1' }
  const listMeta = schemas.definition('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta') as StructSchema
  const encoded = items.map((item) => encodeMessage(item, kind('ConfigMap')))
  const list = encodeListProtobuf(type, metadata, listMeta, encoded)
  t.same(list, encodeProtobuf({ ...type, metadata, items }, kind('ConfigMapList')))
  t.same(decodeProtobuf(list, () => kind('ConfigMapList')).object, { ...type, metadata, items })
  t.end()
})

t.test('a watch event is a frame with a length, and its object is in an envelope', (t) => {
  const object = encodeProtobuf(
    { kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v'.repeat(500) } },
    kind('ConfigMap'),
  )
  const frame = watchFrame('ADDED', object)
  t.equal(frame.readUInt32BE(0), frame.length - 4)
  t.equal(frame.toString('latin1', 4, 11), '\x0a\x05ADDED')
  t.equal(decodeEnvelope(frame.subarray(frame.indexOf('k8s\0'))).kind, 'ConfigMap')
  t.ok(frame.subarray(-object.length).equals(object))
  t.equal(frame.length, 4 + 7 + 3 + 3 + object.length)
  t.end()
})

t.test('a tree that does not fit its type is an error that names the field, and leaves nothing behind', (t) => {
  const cases: [JsonObject, RegExp][] = [
    [{ data: { a: 1 } }, /data cannot be number 1/],
    [{ data: [] }, /data cannot be a list/],
    [{ metadata: 'x' }, /metadata cannot be string x/],
    [{ metadata: { generation: 1.5 } }, /generation/],
    [{ metadata: { creationTimestamp: 'yesterday' } }, /creationTimestamp/],
    [{ immutable: 'yes' }, /immutable/],
  ]
  const schema = kind('ConfigMap')
  const empty = encodeMessage({}, schema)
  for (const [tree, message] of cases) {
    t.throws(() => encodeMessage(tree, schema), { name: 'ProtobufError', message })
    t.same(encodeMessage({}, schema), empty)
  }
  t.end()
})

t.test('bytes that are no message are refused with what is wrong', (t) => {
  const schema = kind('ConfigMap')
  const nested = (depth: number): Buffer => {
    let bytes = Buffer.alloc(0)
    for (let i = 0; i < depth; i++) {
      const head = [0xe2, 0x01]
      for (let rest = bytes.length; ; rest >>= 7) {
        head.push(rest >= 0x80 ? (rest & 0x7f) | 0x80 : rest)
        if (rest < 0x80) break
      }
      bytes = Buffer.concat([Buffer.from(head), bytes])
    }
    return bytes
  }
  const props = schemas.definition(
    'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps',
  ) as StructSchema
  t.throws(() => decodeMessage(nested(5000), props), { name: 'ProtobufError', message: /nested/ })
  t.ok(decodeMessage(nested(500), props))
  const cases: [string, RegExp][] = [
    ['0a', /unexpected end/],
    ['0a05 0a', /a length of 5 .* 1 bytes are left/],
    ['0a ffffffffffffffff7f', /a length of/],
    ['08 01', /wire type 0 in the field ConfigMap.metadata/],
    ['ffffffffffffffffffffff 01', /64 bits/],
    ['fcff7f', /group/],
    ['0000', /field number 0/],
    ['ff7f 00', /unknown wire type 7/],
    ['0a0a 4208 08 ffffffffffff7f', /no year/],
  ]
  for (const [bytes, message] of cases)
    t.throws(() => decodeMessage(hex(bytes), schema), { name: 'ProtobufError', message }, bytes)
  t.throws(() => decodeEnvelope(Buffer.from('{"kind":"Pod"}')), { name: 'ProtobufError' })
  t.throws(() => decodeEnvelope(Buffer.from('k8s\0')), { name: 'ProtobufError' })
  t.throws(() => decodeEnvelope(Buffer.alloc(0)), { name: 'ProtobufError' })
  t.end()
})
