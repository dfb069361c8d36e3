import t from 'tap'
import { ChunkedStream, type StreamFiller } from '#keelson/main/http/response-stream.js'
import { LossyPort } from './lossy-port.js'

const SPACE: StreamFiller = { bytes: Buffer.from(' '), place: 'between' }
const ANSWERING = {
  answering: () => true,
  attempt: (callback: () => void) => callback(),
  sent: () => undefined,
  ended: () => undefined,
}
const SIZES = [1, 100, 400, 5000, 16_000, 16_384, 17_000, 500_000]

/** What the chunks on the wire carry; throws when their sizes are not those that were announced. */
function decoded(wire: string): string {
  let body = ''
  let at = 0
  while (at < wire.length) {
    const head = /^\r\n([0-9a-f]+)\r\n/.exec(wire.slice(at, at + 20))
    if (head === null) throw new Error(`no head of a chunk at ${at}: ${JSON.stringify(wire.slice(at, at + 40))}`)
    const start = at + head[0].length
    at = start + Number.parseInt(head[1]!, 16)
    body += wire.slice(start, at)
  }
  return body.replaceAll(' ', '')
}

/** The same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

t.test('nothing is lost, whatever sizes are written and however little the client takes', async (t) => {
  for (let seed = 1; seed <= 40; seed++) {
    const next = random(seed)
    const port = new LossyPort()
    const stream = new ChunkedStream(port, ANSWERING, SPACE)
    let written = ''
    let letter = 0
    const frame = (): Buffer => {
      const text = String.fromCharCode(97 + (letter++ % 26)).repeat(SIZES[next(SIZES.length)]!)
      written += text
      return Buffer.from(text)
    }
    for (let step = 0; step < 30; step++) {
      port.systemRoom = next(3) === 0 ? next(20) : next(600_000)
      if (next(2) === 0) stream.write(frame())
      else stream.writeAll(Array.from({ length: next(6) }, frame))
    }
    port.drain(Number.POSITIVE_INFINITY)
    const body = decoded(port.wire)
    t.ok(body === written, `seed ${seed}: ${body.length} of ${written.length} bytes, in order`)
    t.equal(port.bareWrites, 0, `seed ${seed}: every write is in a cork`)
  }
})

t.test('a frame that does not fit into a cork tells that the client does not keep up', async (t) => {
  const port = new LossyPort()
  const stream = new ChunkedStream(port, ANSWERING, SPACE)
  let drained = 0
  stream.onDrain(() => drained++)
  port.systemRoom = 1000
  t.equal(stream.writeAll([Buffer.from('a'), Buffer.alloc(20_000, 'b'), Buffer.from('c')]), false)
  port.drain(10)
  t.equal(drained, 0, 'the rest is still waiting')
  port.drain(100_000)
  t.equal(drained, 1)
  t.equal(decoded(port.wire), `a${'b'.repeat(20_000)}c`)
})
