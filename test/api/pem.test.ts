import t from 'tap'
import { firstPemBlock } from '#keelson/api/pem.js'

const block = (text: string, type = 'X Y'): string =>
  `-----BEGIN ${type}-----\n${Buffer.from(text).toString('base64')}\n-----END ${type}-----\n`
const read = (text: string): string | undefined => firstPemBlock(text)?.bytes.toString()

t.test('a block is read wherever it stands, with headers or without', async (t) => {
  t.same(firstPemBlock(block('hello')), { type: 'X Y', bytes: Buffer.from('hello') })
  t.equal(read(`said before:\n\n${block('hello')}${block('after')}`), 'hello')
  t.equal(read(block('hello').replaceAll('\n', '\r\n')), 'hello')
  t.equal(read(block('hello').trimEnd()), 'hello')
  t.equal(read('-----BEGIN X-----\nProc-Type: 4\nA: b\n\naGVs\nbG8=\n-----END X-----'), 'hello')
})

t.test('what others may pass over is no block, and hides none', async (t) => {
  const good = block('good')
  for (const [why, text] of [
    ['nothing', ''],
    ['its text on the first line', `-----BEGIN X Y-----aGVsbG8=\n-----END X Y-----\n${good}`],
    ['in one line', `-----BEGIN X Y-----aGVsbG8=-----END X Y-----\n${good}`],
    ['not at the start of a line', ` -----BEGIN X Y-----\naGVsbG8=\n-----END X Y-----\n${good}`],
    ['another end', `-----BEGIN X Y-----\naGVsbG8=\n-----END Z-----\n${good}`],
    ['no end', `-----BEGIN X Y-----\naGVsbG8=\n${good}`],
    ['an end in its last line', `-----BEGIN X Y-----\naGVsbG8=-----END X Y-----\n${good}`],
    ['a word after its end', `-----BEGIN X Y-----\naGVsbG8=\n-----END X Y-----z\n${good}`],
    ['what is no base64', `-----BEGIN X Y-----\naGVsb*G8=\n-----END X Y-----\n${good}`],
    ['base64 that is cut', `-----BEGIN X Y-----\naGVsbG8\n-----END X Y-----\n${good}`],
  ] as const)
    t.equal(read(text), undefined, why)
})
