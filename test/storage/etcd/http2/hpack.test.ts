import t from 'tap'
import { encodeHeaders, HeaderReader, HpackError } from '#keelson/storage/etcd/http2/hpack.js'
import { decodeHuffman } from '#keelson/storage/etcd/http2/huffman.js'

const read = (bytes: number[] | Buffer) => Object.fromEntries(new HeaderReader().read(Buffer.from(bytes)))
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

t.test("strings of the RFC's examples", async (t) => {
  t.equal(decodeHuffman(hex('f1e3 c2e5 f23a 6ba0 ab90 f4ff')), 'www.example.com')
  t.equal(decodeHuffman(hex('a8eb 1064 9cbf')), 'no-cache')
  t.equal(decodeHuffman(hex('d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff')), 'Mon, 21 Oct 2013 20:13:21 GMT')
  t.equal(decodeHuffman(hex('aec3 771a 4b')), 'private')
  t.equal(decodeHuffman(Buffer.alloc(0)), '')
})

t.test('strings that are none', async (t) => {
  t.equal(decodeHuffman(hex('ffff ffff')), undefined, 'no character has this code')
  t.equal(decodeHuffman(hex('a8eb 1064 9cbf ff')), undefined, 'a byte of padding')
  t.equal(decodeHuffman(hex('1f')), 'a')
  t.equal(decodeHuffman(hex('18')), undefined, 'padding of zeros')
})

t.test('headers as they are sent are read again', async (t) => {
  const headers = { ':method': 'POST', ':path': '/etcdserverpb.KV/Txn', 'grpc-timeout': '10S', long: 'x'.repeat(1000) }
  t.same(read(encodeHeaders(headers)), headers)
})

t.test("the RFC's answers: names by number, with and without Huffman's code", async (t) => {
  t.same(read(hex('4803 3330 3258 0770 7269 7661 7465')), { ':status': '302', 'cache-control': 'private' })
  t.same(read(hex('4882 6402 5885 aec3 771a 4b')), { ':status': '302', 'cache-control': 'private' })
  t.same(read([0x20, 0x88]), { ':status': '200' }, 'the size of the table is said first')
})

t.test('headers that make no sense', async (t) => {
  for (const bytes of [[0xbe], [0x80], [0x00], [0x00, 0x05, 0x61], [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff], [0x88, 0x40]])
    t.throws(() => read(bytes), HpackError, Buffer.from(bytes).toString('hex'))
})

t.test('what is remembered is what was read', async (t) => {
  const reader = new HeaderReader()
  const block = encodeHeaders({ 'grpc-status': '0' })
  t.equal(reader.read(block), reader.read(Buffer.from(block)))
  for (let i = 0; i < 1000; i++)
    t.equal(reader.read(encodeHeaders({ 'grpc-message': String(i) })).get('grpc-message'), String(i))
})
