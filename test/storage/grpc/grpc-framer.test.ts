import { test } from 'tap'
import { ReplyTooLargeError } from '#keelson/storage/grpc/grpc-error.js'
import { GrpcFramer } from '#keelson/storage/grpc/grpc-framer.js'

const frame = (body: string): Buffer => {
  const header = Buffer.alloc(5)
  header.writeUInt32BE(body.length, 1)
  return Buffer.concat([header, Buffer.from(body)])
}
const BODIES = ['one', '', 'a longer third', 'x']
const BYTES = Buffer.concat(BODIES.map(frame))

test('messages are found whatever the chunks', async (t) => {
  for (let size = 1; size <= BYTES.length; size++) {
    const framer = new GrpcFramer()
    const found: string[] = []
    for (let at = 0; at < BYTES.length; at += size)
      for (const message of framer.push(BYTES.subarray(at, at + size))) found.push(message.toString())
    t.strictSame(found, BODIES, `chunks of ${size}`)
  }
})

test('a message that is too large is refused from its prefix alone', async (t) => {
  const framer = new GrpcFramer(10)
  t.strictSame(framer.push(frame('0123456789')).map(String), ['0123456789'])
  const header = frame('0123456789a').subarray(0, 5)
  try {
    framer.push(header)
    t.fail('accepted')
  } catch (error) {
    t.type(error, ReplyTooLargeError)
    t.equal((error as ReplyTooLargeError).bytes, 11)
  }
})

test('a compressed message, which nobody asked for, is an error', async (t) => {
  t.throws(() => new GrpcFramer().push(Buffer.from([1, 0, 0, 0, 0])))
})
