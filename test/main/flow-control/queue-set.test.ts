import t from 'tap'
import type { RejectReason } from '#keelson/main/flow-control/flow-recorder.js'
import { type Flow, QueueSet, Ticket, Waiter } from '#keelson/main/flow-control/queue-set.js'
import { dealHand } from '#keelson/main/flow-control/shuffle-shard.js'
import { ONE_SEAT, type WorkEstimate } from '#keelson/main/flow-control/work-estimate.js'
import { FakeClock } from '../../support/fake-clock.js'

const wide = (initialSeats: number): WorkEstimate => ({ initialSeats, finalSeats: 0, additionalMs: 0 })

function queueSet(seats: number, queues: number, queueLengthLimit = 50) {
  const clock = new FakeClock()
  const set = new QueueSet({ name: 'level', clock })
  set.configure({ queues, queueLengthLimit }, seats)
  return { clock, set }
}

/** Sends requests of a flow and keeps the order in which they are let in. */
class Sender {
  readonly tickets: Ticket[] = []
  readonly refused: RejectReason[] = []
  readonly waiters: Waiter[] = []
  constructor(
    readonly set: QueueSet,
    readonly flow: Flow,
    readonly order: string[],
  ) {}

  send(work = ONE_SEAT): void {
    const take = (outcome: Ticket | RejectReason): void => {
      if (outcome instanceof Ticket) {
        this.order.push(this.flow.schema)
        this.tickets.push(outcome)
      } else this.refused.push(outcome)
    }
    const outcome = this.set.enter(this.flow, work, take)
    if (outcome instanceof Waiter) this.waiters.push(outcome)
    else take(outcome)
  }
}
const flow = (schema: string, ...hand: number[]): Flow => ({ schema, hand, seatsInUse: 0 })

t.test('nobody waits while there is room, and nobody enters without', async (t) => {
  const { set } = queueSet(2, 0)
  const a = new Sender(set, flow('a'), [])
  a.send()
  a.send()
  a.send()
  t.equal(a.tickets.length, 2)
  t.same(a.refused, ['concurrency-limit'])
  set.leave(a.tickets[0]!)
  set.leave(a.tickets[0]!)
  t.equal(set.seatsInUse, 1, 'a place is given back once')
  a.send(wide(5))
  t.same(a.refused, ['concurrency-limit', 'concurrency-limit'])
  set.leave(a.tickets[1]!)
  a.send(wide(5))
  t.equal(set.seatsInUse, 5, 'what is wider than the level runs alone')
})

t.test('who is exempt always enters', async (t) => {
  const { set } = queueSet(0, -1)
  const a = new Sender(set, flow('a'), [])
  for (let i = 0; i < 100; i++) a.send(wide(10))
  t.equal(a.tickets.length, 100)
  t.equal(set.demand.seats, 1000, 'and is counted')
})

t.test('a flow that asks for much waits behind itself, not in front of others', async (t) => {
  const { set, clock } = queueSet(1, 8)
  const order: string[] = []
  const greedy = new Sender(set, flow('greedy', 0, 1), order)
  const quiet = new Sender(set, flow('quiet', 4, 5), order)
  for (let i = 0; i < 40; i++) greedy.send()
  for (let i = 0; i < 3; i++) quiet.send()
  t.same(order, ['greedy'])
  const all = [greedy, quiet]
  for (let i = 0; i < 8; i++) {
    await clock.advance(3)
    const running = all.flatMap(({ tickets }) => tickets).find((ticket) => !ticket.left)
    set.leave(running!)
  }
  const quietAt = order.flatMap((who, i) => (who === 'quiet' ? [i] : []))
  t.equal(quietAt.length, 3, 'all of the quiet one are through')
  t.ok(quietAt[2]! <= 7, 'among the next few, though forty came before')
})

t.test('seats decide, not requests: wide ones get as much of the level as narrow ones', async (t) => {
  const { set, clock } = queueSet(8, 4)
  const order: string[] = []
  const heavy = new Sender(set, flow('heavy', 0), order)
  const light = new Sender(set, flow('light', 2), order)
  for (let i = 0; i < 40; i++) heavy.send(wide(8))
  for (let i = 0; i < 40; i++) light.send(wide(1))
  // Each request takes the same time; all that run end together.
  for (let round = 0; round < 10; round++) {
    await clock.advance(3)
    for (const ticket of [...heavy.tickets, ...light.tickets].filter((one) => !one.left)) set.leave(ticket)
  }
  const heavySeats = heavy.tickets.length * 8
  const lightSeats = light.tickets.length
  t.ok(lightSeats >= 24, `the light flow had ${lightSeats} seats`)
  t.ok(Math.abs(heavySeats - lightSeats) <= 24, `the heavy one ${heavySeats}`)
})

t.test('a queue that is full refuses, and the others do not', async (t) => {
  const { set } = queueSet(1, 8, 3)
  const a = new Sender(set, flow('a', 0, 1), [])
  for (let i = 0; i < 1 + 2 * 3 + 2; i++) a.send()
  t.same(a.refused, ['queue-full', 'queue-full'])
  const b = new Sender(set, flow('b', 2, 3), [])
  b.send()
  t.same(b.refused, [])
})

t.test('who gives up waiting takes no seat', async (t) => {
  const { set } = queueSet(1, 1)
  const a = new Sender(set, flow('a', 0), [])
  for (let i = 0; i < 3; i++) a.send()
  set.cancel(a.waiters[0]!, 'time-out')
  set.cancel(a.waiters[0]!, 'time-out')
  t.same(a.refused, ['time-out'])
  set.leave(a.tickets[0]!)
  t.equal(a.tickets.length, 2)
  set.cancel(a.waiters[1]!, 'cancelled')
  t.same(a.refused, ['time-out'], 'too late to give up')
  set.leave(a.tickets[1]!)
  t.ok(set.idle)
})

t.test('seats linger for what a request caused', async (t) => {
  const { set, clock } = queueSet(2, 1)
  const a = new Sender(set, flow('a', 0), [])
  a.send({ initialSeats: 1, finalSeats: 2, additionalMs: 5 })
  a.send()
  t.equal(a.tickets.length, 1, 'both phases count from the start')
  set.leave(a.tickets[0]!)
  t.equal(a.tickets.length, 1)
  await clock.advance(5)
  t.equal(a.tickets.length, 2)
})

t.test('fewer queues, fewer seats: what waits still gets its turn', async (t) => {
  const { set } = queueSet(1, 8)
  const a = new Sender(set, flow('a', 7), [])
  for (let i = 0; i < 3; i++) a.send()
  set.configure({ queues: 2, queueLengthLimit: 50 }, 3)
  t.equal(a.tickets.length, 3)
})

t.test('one flow leaves some seats to others, who need not wait', async (t) => {
  const { set } = queueSet(50, 8)
  const greedy = new Sender(set, flow('greedy', 0, 1), [])
  for (let i = 0; i < 20; i++) greedy.send(wide(8))
  t.equal(set.seatsInUse, 40, 'not 48')
  const quiet = new Sender(set, flow('quiet', 4, 5), [])
  for (let i = 0; i < 5; i++) quiet.send()
  t.equal(quiet.tickets.length, 5, 'at once, though others wait')
  for (let i = 0; i < 20; i++) quiet.send()
  t.equal(set.seatsInUse, 50, 'all seats are for somebody')
})

t.test('who is held back though there are seats may wait longer, not without end', async (t) => {
  const { set } = queueSet(10, 8, 3)
  const greedy = new Sender(set, flow('greedy', 0, 1), [])
  for (let i = 0; i < 9 + 2 * 12 + 5; i++) greedy.send()
  t.equal(greedy.tickets.length, 9)
  t.equal(greedy.refused.length, 5)
})

t.test('a hand has different queues, is always the same, and uses the whole deck', async (t) => {
  const seen = new Set<number>()
  for (let i = 0; i < 500; i++) {
    const hand = dealHand('schema', `user-${i}`, 64, 6)
    t.equal(new Set(hand).size, 6)
    t.same(hand, dealHand('schema', `user-${i}`, 64, 6))
    for (const queue of hand) {
      t.ok(queue >= 0 && queue < 64)
      seen.add(queue)
    }
  }
  t.equal(seen.size, 64)
})
