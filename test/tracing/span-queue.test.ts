import t from 'tap'
import { SpanKind, type SpanRecord } from '#keelson/tracing/span.js'
import { SpanQueue } from '#keelson/tracing/span-queue.js'
import { FakeClock } from '../support/fake-clock.js'

const span = (i: number): SpanRecord => ({
  context: { traceId: '1'.repeat(32), spanId: String(i).padStart(16, '0'), isSampled: true },
  parentSpanId: '',
  link: undefined,
  name: `s${i}`,
  kind: SpanKind.internal,
  startMs: 0,
  endMs: 1,
  attributes: {},
  error: undefined,
})

/** A queue whose collector answers when it is told to. */
function fixture() {
  const clock = new FakeClock()
  const counts = { sent: 0, dropped: 0, failed: 0 }
  const sent: number[] = []
  let away = 0
  let answer: { resolve: () => void; reject: (error: Error) => void } | undefined
  const queue = new SpanQueue({
    send: (spans) => {
      sent.push(spans.length)
      return new Promise<void>((resolve, reject) => {
        answer = { resolve, reject }
      })
    },
    clock,
    random: () => 1,
    onOutcome: (outcome, spans) => {
      counts[outcome] += spans
    },
    onAway: () => away++,
  })
  const settle = async (failure?: string): Promise<void> => {
    if (failure === undefined) answer!.resolve()
    else answer!.reject(new Error(failure))
    await new Promise((resolve) => setImmediate(resolve))
  }
  const add = (count: number): void => {
    for (let i = 0; i < count; i++) queue.add(span(i))
  }
  return { clock, queue, counts, sent, settle, add, away: () => away }
}

t.test('spans wait for others, and a full batch goes at once', async (t) => {
  const { clock, sent, counts, settle, add } = fixture()
  add(3)
  await clock.advance(4_999)
  t.same(sent, [])
  await clock.advance(1)
  t.same(sent, [3])
  await settle()
  add(512)
  t.same(sent, [3, 512])
  add(600)
  t.same(sent, [3, 512], 'one batch is under way at a time')
  await settle()
  t.same(sent, [3, 512, 512])
  await settle()
  await clock.advance(5_000)
  t.same(sent, [3, 512, 512, 88])
  await settle()
  t.same(counts, { sent: 1115, dropped: 0, failed: 0 })
})

t.test('a collector that is away costs a bounded queue, and less and less asking', async (t) => {
  const { clock, sent, counts, settle, add, away } = fixture()
  add(512)
  await settle('away')
  add(5_000)
  t.equal(counts.dropped, 5_000 - 2_048)
  t.same(sent, [512], 'nothing is sent in the pause after a failure')
  await clock.advance(1_000)
  t.same(sent, [512, 512])
  await settle('away')
  await clock.advance(1_999)
  t.equal(sent.length, 2)
  await clock.advance(1)
  t.equal(sent.length, 3)
  t.equal(away(), 1, 'told once')
  await settle()
  t.same(sent.at(-1), 512, 'the rest follows at once')
  t.match(counts, { failed: 1_024, sent: 512 })
})

t.test('an end sends what waits; with a collector that is away it does not wait', async (t) => {
  const { queue, counts, settle, add } = fixture()
  add(10)
  const stopped = queue.stop()
  await new Promise((resolve) => setImmediate(resolve))
  await settle()
  await stopped
  t.equal(counts.sent, 10)
  const other = fixture()
  other.add(512)
  await other.settle('away')
  other.add(10)
  await other.queue.stop()
  t.match(other.counts, { failed: 512, dropped: 10 })
})
