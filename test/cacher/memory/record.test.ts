import { ByteBuffer } from 'flatbuffers'
import t from 'tap'
import { RecordReader } from '#keelson/cacher/memory/record-reader.js'
import { RecordWriter } from '#keelson/cacher/memory/record-writer.js'
import { SegmentTable } from '#keelson/cacher/memory/segment-table.js'
import { draft } from './draft.js'

/** Places of the fields of record.fbs in the vtable, in the order of the schema. */
const FIELDS = {
  key: 4,
  modRevision: 6,
  createRevision: 8,
  uid: 10,
  labels: 12,
  fields: 14,
  body: 16,
  revisionOffset: 18,
}

/** Reads a record with the flatbuffers package alone, by the schema. */
function readWithPackage(bytes: Uint8Array) {
  const buffer = new ByteBuffer(bytes)
  const table = buffer.readInt32(0)
  const at = (field: number) => {
    const offset = buffer.__offset(table, field)
    if (offset === 0) throw new Error(`field ${field} is not there`)
    return table + offset
  }
  const texts = (field: number) => {
    const vector = buffer.__vector(at(field))
    const found: string[] = []
    for (let i = 0; i < buffer.__vector_len(at(field)); i++) found.push(String(buffer.__string(vector + 4 * i)))
    return found
  }
  const body = buffer.__vector(at(FIELDS.body))
  return {
    key: buffer.__string(at(FIELDS.key)),
    modRevision: buffer.readUint64(at(FIELDS.modRevision)),
    createRevision: buffer.readUint64(at(FIELDS.createRevision)),
    uid: buffer.__string(at(FIELDS.uid)),
    labels: texts(FIELDS.labels),
    fields: texts(FIELDS.fields),
    body: Buffer.from(bytes.subarray(body, body + buffer.__vector_len(at(FIELDS.body)))).toString(),
    revisionOffset: buffer.readUint32(at(FIELDS.revisionOffset)),
  }
}

function setUp() {
  const table = new SegmentTable(() => undefined)
  table.set(0, new SharedArrayBuffer(1 << 20))
  let next = 1
  const lengths = new Map<number, number>()
  const writer = new RecordWriter(table, (bytes) => {
    const pointer = next
    next += (bytes + 15) >> 4
    lengths.set(pointer, bytes)
    return pointer
  })
  const bytesOf = (pointer: number) => {
    const copy = new Uint8Array(lengths.get(pointer)!)
    copy.set(table.of(pointer).bytes.subarray(pointer << 4, (pointer << 4) + copy.length))
    return copy
  }
  return { table, writer, bytesOf }
}

const KEY = '/registry/pods/default/größe'
const LARGE = Number.MAX_SAFE_INTEGER - 1

t.test('the flatbuffers package reads what we write', async (t) => {
  const { writer, bytesOf, table } = setUp()
  const given = { ...draft('x', { labels: ['a', '1', 'ключ', 'значение', 'empty', ''], node: 'node-1' }), uid: 'ü' }
  const key = Buffer.from(KEY)
  const pointer = writer.write(key, key.length, given, LARGE, 3)
  const expected = {
    key: KEY,
    modRevision: BigInt(LARGE),
    createRevision: 3n,
    uid: 'ü',
    labels: given.labels,
    fields: given.fields,
    body: `{"metadata":{"name":"x","resourceVersion":"${LARGE}"},"filler":""}`,
    revisionOffset: given.revisionOffset,
  }
  t.same(readWithPackage(bytesOf(pointer)), expected)
  const record = new RecordReader(table, pointer)
  t.equal(record.modRevision, LARGE)
  t.equal(record.key, KEY)
  t.equal(record.labels.get('ключ'), 'значение')
  t.equal(record.labels.get('empty'), '')
  t.equal(record.labels.has('empty'), true)
  t.equal(record.labels.has('1'), false, 'a value is no name')

  const shorter = writer.writeTombstone(pointer, 7)
  t.same(readWithPackage(bytesOf(shorter)), {
    ...expected,
    modRevision: 7n,
    body: '{"metadata":{"name":"x","resourceVersion":"7"},"filler":""}',
  })
  const longer = writer.writeTombstone(shorter, 1234567)
  t.equal(readWithPackage(bytesOf(longer)).body, '{"metadata":{"name":"x","resourceVersion":"1234567"},"filler":""}')
})

t.test('a record without labels, with an empty body on both sides of the revision, is whole', async (t) => {
  const { writer, bytesOf } = setUp()
  const key = Buffer.from('k')
  const bare = { uid: '', labels: [], fields: [], body: new Uint8Array(0), revisionOffset: 0 }
  const pointer = writer.write(key, key.length, bare, 12, 12)
  t.match(readWithPackage(bytesOf(pointer)), { key: 'k', uid: '', labels: [], fields: [], body: '12' })
})

t.test('parts of any length stay aligned', async (t) => {
  const { writer, bytesOf } = setUp()
  for (let n = 1; n < 40; n++) {
    const key = Buffer.from('k'.repeat(n))
    const labels = Array.from({ length: 2 * (n % 5) }, (_, i) => 'l'.repeat((n * i) % 11))
    const pointer = writer.write(key, key.length, { ...draft('x', { labels }), uid: 'u'.repeat(n % 9) }, n, 1)
    t.match(readWithPackage(bytesOf(pointer)), { key: 'k'.repeat(n), labels, uid: 'u'.repeat(n % 9) })
  }
})
