import t from 'tap'
import { BulkTurns } from '#keelson/main/http/bulk-turns.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import { FakePort, requestHead } from './fake-port.js'

/** Turns that the test takes one by one; each slice takes as long as it says. */
function turns() {
  let now = 0
  const due: (() => void)[] = []
  const bulk = new BulkTurns({ nowMs: () => now, nextTurn: (callback) => due.push(callback) })
  return {
    bulk,
    spend: (ms: number) => {
      now += ms
    },
    turn: (): boolean => {
      const callback = due.shift()
      callback?.()
      return callback !== undefined
    },
  }
}

t.test('a turn is bounded, and each job gets a slice before any gets two', async (t) => {
  const { bulk, spend, turn } = turns()
  const order: string[] = []
  const job = (name: string, slices: number) => (): boolean => {
    order.push(name)
    spend(0.2)
    return --slices > 0
  }
  bulk.add(job('a', 3))
  bulk.add(job('b', 3))
  bulk.add(job('c', 1))
  t.same(order, [], 'nothing before the next turn')
  turn()
  t.same(order, ['a', 'b', 'c'], 'half a millisecond is used up')
  turn()
  t.same(order, ['a', 'b', 'c', 'a', 'b', 'a'])
  while (turn());
  t.same(order.slice(6), ['b'])
  t.equal(bulk.pending, 0)
})

t.test('refusals come a few at a time and stop nobody', async (t) => {
  const { bulk, turn } = turns()
  let told = 0
  for (let i = 0; i < 5; i++) bulk.refuse(() => told++)
  let sliced = 0
  bulk.add(() => ++sliced < 2)
  turn()
  t.equal(told, 2)
  t.equal(sliced, 2)
  turn()
  turn()
  t.equal(told, 5)
  t.notOk(turn(), 'nothing is left to do')
})

t.test('a large answer goes out in slices; small ones do not wait for it', async (t) => {
  const { bulk, spend, turn } = turns()
  const port = new FakePort()
  const exchange = new Exchange(requestHead(), port, { turns: bulk })
  const body = Buffer.alloc(1_000_000, 'x')
  let done = 0
  exchange.onFinished(() => done++)
  const sent = (): number => port.body.length
  exchange.respond({ status: 200, contentType: 'text/plain' }, body)
  const first = sent()
  t.ok(first > 0 && first < body.byteLength, `${first} bytes in its own turn`)
  const small = new FakePort()
  new Exchange(requestHead(), small, { turns: bulk }).respond({ status: 200, contentType: 'text/plain' }, 'small')
  t.equal(small.body, 'small')
  t.equal(done, 0)
  bulk.add(() => {
    spend(1)
    return false
  })
  turn()
  t.ok(sent() < body.byteLength, 'a turn that others used up brings it no further than a slice')
  while (turn());
  t.equal(sent(), body.byteLength)
  t.equal(done, 1)
})

t.test('a client that goes away while its answer waits for a turn', async (t) => {
  const { bulk, turn } = turns()
  const port = new FakePort()
  const exchange = new Exchange(requestHead(), port, { turns: bulk })
  let done = 0
  exchange.respondSized(
    { status: 200, contentType: 'text/plain' },
    {
      totalBytes: 1_000_000,
      heldBytes: 0,
      next: () => Buffer.alloc(1000),
      done: () => done++,
    },
  )
  port.abort()
  while (turn());
  t.equal(done, 1)
})
