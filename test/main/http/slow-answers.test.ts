import t from 'tap'
import { BulkTurns } from '#keelson/main/http/bulk-turns.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import { SlowAnswers } from '#keelson/main/http/slow-answers.js'
import { FakeClock } from '../../support/fake-clock.js'
import { FakePort, requestHead } from './fake-port.js'

const MIB = 1024 * 1024
const HEAD = { status: 200, contentType: 'application/json' }

function listener(limitBytes: number) {
  const clock = new FakeClock()
  const looks: number[] = []
  const broken: number[] = []
  const slowAnswers = new SlowAnswers({
    clock,
    limitBytes,
    onLook: (bytes) => looks.push(bytes),
    onBreakOff: ({ heldBytes }) => broken.push(heldBytes),
  })
  const turns = new BulkTurns({ nowMs: () => 0, nextTurn: (callback) => callback() })
  const send = (bytes: number): FakePort => {
    const port = new FakePort()
    port.room = 100
    new Exchange(requestHead(), port, { turns, slowAnswers }).respond(HEAD, Buffer.alloc(bytes, 'x'))
    return port
  }
  return { clock, looks, broken, send, slowAnswers, turns }
}

t.test('answers that fit are waited for, however slow their clients are', async (t) => {
  const { clock, looks, broken, send } = listener(4 * MIB)
  const ports = [send(2 * MIB), send(2 * MIB)]
  await clock.advance(60_000)
  t.same(broken, [])
  t.notOk(ports.some(({ closed }) => closed))
  t.equal(looks.at(-1), 4 * MIB)
  for (const port of ports) port.drain(2 * MIB)
  t.ok(ports.every(({ ended }) => ended))
  await clock.advance(1000)
  t.equal(looks.at(-1), 0, 'nothing is held any more')
  t.equal(clock.pendingTimers, 0, 'and nobody looks')
})

t.test('the slowest are broken off, as many as must be', async (t) => {
  const { clock, looks, broken, send } = listener(4 * MIB)
  const ports = [send(2 * MIB), send(2 * MIB), send(2 * MIB), send(MIB)]
  ports[0]!.drain(300_000)
  ports[2]!.drain(200_000)
  ports[3]!.drain(500_000)
  await clock.advance(2000)
  t.same(broken, [2 * MIB, 2 * MIB], 'who took nothing first, then who took least')
  t.same(
    ports.map(({ closed }) => closed),
    [false, true, true, false],
  )
  t.equal(looks.at(-1), 3 * MIB)
})

t.test('who reads well is not slow, whatever is held for it', async (t) => {
  const { clock, broken, send } = listener(MIB)
  const port = send(20 * MIB)
  for (let second = 0; second < 8; second++) {
    port.drain(2 * MIB)
    await clock.advance(1000)
  }
  t.same(broken, [])
  await clock.advance(60_000)
  t.same(broken, [20 * MIB], 'until it reads no more')
})

t.test('who came less than a second ago is not judged yet', async (t) => {
  const { clock, broken, send } = listener(MIB)
  send(MIB)
  await clock.advance(900)
  send(2 * MIB)
  await clock.advance(100)
  t.same(broken, [])
  await clock.advance(1000)
  t.same(broken, [MIB, 2 * MIB])
})

t.test('a list whose bytes lie elsewhere counts for nothing', async (t) => {
  const { clock, looks, slowAnswers, turns } = listener(MIB)
  const port = new FakePort()
  port.room = 100
  const exchange = new Exchange(requestHead(), port, { turns, slowAnswers })
  const piece = Buffer.alloc(2 * MIB)
  exchange.respondSized(HEAD, {
    totalBytes: 2 * MIB,
    heldBytes: 0,
    next: () => piece,
    done: () => undefined,
  })
  await clock.advance(5000)
  t.same(looks, [])
  t.notOk(port.closed)
})

t.test('a long text waits in pieces like any other answer', async (t) => {
  const { clock, looks, turns, slowAnswers } = listener(MIB)
  const port = new FakePort()
  port.room = 100
  new Exchange(requestHead(), port, { turns, slowAnswers }).respond(HEAD, 'ä'.repeat(100_000))
  t.equal(Buffer.byteLength(port.body) < 200_000, true)
  await clock.advance(1000)
  t.equal(looks.at(-1), 200_000)
})
