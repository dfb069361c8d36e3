import { test } from 'tap'
import { WireReader, WireWriter } from '#keelson/storage/etcd/wire.js'

const NUMBERS = [
  0,
  1,
  127,
  128,
  16_383,
  16_384,
  2 ** 21,
  2 ** 28 - 1,
  2 ** 28,
  2 ** 31,
  2 ** 32,
  2 ** 35,
  2 ** 49,
  2 ** 53 - 1,
]
const LEASES = [1n, 127n, 128n, 2n ** 32n, 7587877046584423450n, 2n ** 63n - 1n, -1n, -(2n ** 63n)]

test('numbers and int64s come back as they were, whatever their length', async (t) => {
  const writer = new WireWriter(4)
  for (const n of NUMBERS) writer.number(3, n)
  for (const lease of LEASES) writer.int64(15, lease)
  const reader = new WireReader(writer.finish())
  for (const lease of LEASES.toReversed()) {
    t.equal(reader.nextField(), 15)
    t.equal(reader.int64(), lease)
  }
  for (const n of NUMBERS.toReversed()) {
    t.equal(reader.nextField(), 3)
    t.equal(reader.number(), n)
  }
  t.equal(reader.nextField(), 0)
})

test('the bytes are those that the protobuf specification gives', async (t) => {
  const number = new WireWriter(1)
  number.number(1, 150)
  t.equal(number.finish().toString('hex'), '089601')
  const text = new WireWriter(64)
  text.string(2, 'testing')
  t.equal(text.finish().toString('hex'), '120774657374696e67')
  const nested = new WireWriter(2)
  const mark = nested.mark()
  nested.number(1, 150)
  nested.message(3, mark)
  t.equal(nested.finish().toString('hex'), '1a03089601')
  const negative = new WireWriter(1)
  negative.int64(1, -1n)
  t.equal(negative.finish().toString('hex'), '08ffffffffffffffffff01')
})

test('a negative number is read as one', async (t) => {
  for (const n of [-1n, -2n, -(2n ** 40n)]) {
    const writer = new WireWriter(16)
    writer.int64(2, n)
    const reader = new WireReader(writer.finish())
    reader.nextField()
    t.equal(reader.number(), Number(n))
  }
})

test('a gRPC frame has its prefix', async (t) => {
  const writer = new WireWriter(1)
  writer.number(1, 150)
  t.equal(writer.finishFrame().toString('hex'), '0000000003089601')
  t.equal(new WireWriter(1).finishFrame().toString('hex'), '0000000000', 'an empty message too')
})

test('a guess of the size that is too small costs nothing but a copy', async (t) => {
  const write = (sizeHint: number): string => {
    const writer = new WireWriter(sizeHint)
    writer.bytes(2, Buffer.alloc(300, 'v'))
    writer.string(1, 'ключ'.repeat(20))
    writer.message(5, 0)
    return writer.finishFrame().toString('hex')
  }
  const exact = write(1000)
  for (const sizeHint of [0, 1, 7, 299, 303, 310, 400, 470]) t.equal(write(sizeHint), exact, `${sizeHint}`)
})

test('unknown fields of every wire type are skipped', async (t) => {
  const bytes = Buffer.from('0801' + '110102030405060708' + '1a03616263' + '2501020304' + '30ff01' + '3a0178', 'hex')
  const reader = new WireReader(bytes)
  const fields: number[] = []
  for (let field = reader.nextField(); field !== 0; field = reader.nextField()) {
    fields.push(field)
    if (field === 7) t.equal(reader.string(), 'x')
    else reader.skip()
  }
  t.strictSame(fields, [1, 2, 3, 4, 6, 7])
})

test('bytes that end too early are an error, never a read beyond them', async (t) => {
  const writer = new WireWriter(64)
  const mark = writer.mark()
  writer.string(1, 'a key of some length')
  writer.number(2, 2 ** 40)
  writer.message(4, mark)
  const whole = writer.finish()
  const readAll = (bytes: Buffer): void => {
    const reader = new WireReader(bytes)
    while (reader.nextField() !== 0) {
      reader.message((inner) => {
        for (let field = inner.nextField(); field !== 0; field = inner.nextField()) {
          if (field === 1) inner.string()
          else inner.number()
        }
      })
    }
  }
  readAll(whole)
  for (let length = 1; length < whole.length; length++)
    t.throws(() => readAll(Buffer.from(whole.subarray(0, length))), RangeError, `cut at ${length}`)
  const reader = new WireReader(Buffer.from('09010203', 'hex'))
  reader.nextField()
  reader.skip()
  t.throws(() => reader.nextField(), RangeError, 'a fixed64 that is too short')
})
