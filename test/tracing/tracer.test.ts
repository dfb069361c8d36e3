import t from 'tap'
import { parseTraceHeader, traceHeader } from '#keelson/api/trace-context.js'
import type { SpanRecord } from '#keelson/tracing/span.js'
import { Tracer } from '#keelson/tracing/tracer.js'
import { FakeClock } from '../support/fake-clock.js'

const REMOTE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function tracer(samplingRate: number) {
  const spans: SpanRecord[] = []
  const made = new Tracer({ samplingRate, times: new FakeClock(), onSpan: (span) => void spans.push(span) })
  return { tracer: made, spans }
}

t.test('the header of W3C Trace Context', async (t) => {
  const context = parseTraceHeader(REMOTE)
  t.same(context, { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', isSampled: true })
  t.equal(traceHeader(context!), REMOTE)
  t.equal(parseTraceHeader(`${REMOTE.slice(0, -2)}00`)?.isSampled, false)
  t.equal(parseTraceHeader(`cc${REMOTE.slice(2)}-what-comes-later`)?.spanId, 'b7ad6b7169203331')
  for (const wrong of [
    '',
    'x',
    `${REMOTE}-more`,
    `ff${REMOTE.slice(2)}`,
    REMOTE.toUpperCase(),
    REMOTE.replace(/-0af7\w+-/, `-${'0'.repeat(32)}-`),
    REMOTE.replace(/-b7ad\w+-/, `-${'0'.repeat(16)}-`),
    `${REMOTE.slice(0, -1)}`,
    '9'.repeat(60_000),
  ])
    t.equal(parseTraceHeader(wrong), undefined, wrong.slice(0, 70))
})

t.test('a client that is believed says whether its trace is recorded', async (t) => {
  const { tracer: none, spans } = tracer(0)
  const context = parseTraceHeader(REMOTE)!
  const span = none.request('GET', { context, isTrusted: true }, {})
  span?.end()
  t.match(spans, [{ context: { traceId: context.traceId }, parentSpanId: context.spanId, link: undefined }])
  t.equal(
    tracer(1).tracer.request('GET', { context: { ...context, isSampled: false }, isTrusted: true }, {}),
    undefined,
  )
})

t.test('anybody else begins a trace of their own, which names theirs', async (t) => {
  const context = parseTraceHeader(REMOTE)!
  t.equal(tracer(0).tracer.request('GET', { context, isTrusted: false }, {}), undefined, 'at the rate of the server')
  const { tracer: all, spans } = tracer(1)
  all.request('GET', { context, isTrusted: false }, {})?.end()
  t.not(spans[0]?.context.traceId, context.traceId)
  t.match(spans, [{ parentSpanId: '', link: context }])
})

t.test('the rate is the part that is recorded', async (t) => {
  const { tracer: some } = tracer(0.25)
  let recorded = 0
  for (let i = 0; i < 20_000; i++)
    if (some.request('GET', { context: undefined, isTrusted: false }, {}) !== undefined) recorded++
  // Five thousand are expected; six hundred more or less are ten times the spread.
  t.ok(Math.abs(recorded - 5_000) < 600, `${recorded} of 20000`)
})

t.test('steps are spans below the work that they are a part of, however it waits', async (t) => {
  const { tracer: all, spans } = tracer(1)
  const root = all.request('POST', { context: undefined, isTrusted: false }, {})!
  const work = all.below(root.context, 'Create')
  await all.within(work, async () => {
    await new Promise((resolve) => setImmediate(resolve))
    await all.step('storage', {}, async (span) => t.ok(span))
    await t.rejects(all.step('webhook', {}, () => Promise.reject(new Error('away'))))
  })
  await all.step('of nobody', {}, async (span) => t.equal(span, undefined))
  root.end({ status: 201 })
  root.end({ status: 500 })
  t.match(spans, [
    { name: 'storage', parentSpanId: work.context.spanId, error: undefined },
    { name: 'webhook', parentSpanId: work.context.spanId, error: 'away' },
    { name: 'Create', parentSpanId: root.context.spanId },
    { name: 'POST', attributes: { status: 201 } },
  ])
  t.equal(spans.length, 4, 'a span ends once')
})
