import t from 'tap'
import { ConversionCache } from '#keelson/main/verbs/conversion-cache.js'
import { Converter, conversionForm, shaped } from '#keelson/main/verbs/converter.js'
import type { Converted, EventConversion } from '#keelson/protocol/main-pool.js'
import { FakeClock } from '../../support/fake-clock.js'

const PODS = { arena: 'pods', apiVersion: 'v1', info: {} }
const PROTOBUF = conversionForm(
  PODS,
  { serialization: 'protobuf', pretty: false, transformation: undefined },
  'p',
  '',
  1,
)
const tableForm = (definitionHash?: string, memory = 1) =>
  conversionForm(
    { ...PODS, info: definitionHash === undefined ? {} : { definitionHash } },
    { serialization: 'json', pretty: false, transformation: { as: 'Table', version: 'v1' } },
    't',
    '',
    memory,
  )
const TABLE = tableForm()
const item = (id: string, text = id) => ({ id, body: Buffer.from(text) })
const texts = (shown: readonly Uint8Array[]): string[] => shown.map((bytes) => Buffer.from(bytes).toString())

function converter(cacheBytes?: number) {
  const calls: EventConversion[] = []
  const clock = new FakeClock()
  const run = async (conversion: EventConversion): Promise<Converted> => {
    calls.push(conversion)
    const shown = conversion.bodies.map((body) => Buffer.from(`<${Buffer.from(body).toString()}>`))
    // The ages of the first change soon.
    return conversion.mediaType === 't'
      ? { shown, freshForMs: shown.map((_, i) => (i === 0 ? 1000 : 60_000)) }
      : { shown }
  }
  let asked = 0
  const columns = async (): Promise<Uint8Array> => Buffer.from(`columns ${++asked}`)
  const options = { clock, run, columns, ...(cacheBytes === undefined ? {} : { cacheBytes }) }
  return { calls, clock, converter: new Converter(options) }
}

t.test('what is hot is not converted again, and then needs no turn', async (t) => {
  const { calls, converter: one } = converter()
  t.same(texts(await one.convert(PROTOBUF, [item('a@1'), item('b@1')])), ['<a@1>', '<b@1>'])
  const again = one.convert(PROTOBUF, [item('b@1'), item('a@1')])
  t.notOk(again instanceof Promise)
  t.same(texts(await again), ['<b@1>', '<a@1>'])
  t.same(texts(await one.convert(PROTOBUF, [item('a@1'), item('a@2')])), ['<a@1>', '<a@2>'])
  t.same(
    calls.map(({ bodies }) => bodies.length),
    [2, 1],
  )
})

t.test('a conversion that is under way is waited for, not repeated', async (t) => {
  const { calls, converter: one } = converter()
  const both = await Promise.all([one.convert(PROTOBUF, [item('a@1')]), one.convert(PROTOBUF, [item('a@1')])])
  t.same(both.map(texts), [['<a@1>'], ['<a@1>']])
  t.equal(calls.length, 1)
})

t.test('forms do not mix, and a row is passed on as long as its ages are true', async (t) => {
  const { calls, clock, converter: one } = converter()
  await one.convert(PROTOBUF, [item('a@1')])
  await one.convert(TABLE, [item('a@1')])
  await one.convert(shaped(TABLE, 'bare'), [item('a@1')])
  t.same(
    calls.map(({ mediaType, shape }) => [mediaType, shape]),
    [
      ['p', 'whole'],
      ['t', 'whole'],
      ['t', 'bare'],
    ],
  )
  await one.convert(TABLE, [item('a@1')])
  t.equal(calls.length, 3)
  await clock.advance(1000)
  await one.convert(TABLE, [item('a@1')])
  await one.convert(PROTOBUF, [item('a@1')])
  t.equal(calls.length, 4, 'its ages would be wrong')
  const rows = shaped(TABLE, 'row')
  await one.convert(rows, [item('new@1'), item('old@1'), item('old@2')])
  await clock.advance(1000)
  await one.convert(rows, [item('new@1'), item('old@1'), item('old@2')])
  t.same(calls.at(-1)!.bodies.length, 1, 'those of the others are')
})

t.test('columns are asked for once, until forms may have changed', async (t) => {
  const { converter: one } = converter()
  t.equal(Buffer.from(await one.columns(TABLE)).toString(), 'columns 1')
  const again = one.columns(TABLE)
  t.notOk(again instanceof Promise)
  t.equal(Buffer.from(await one.columns(tableForm('uid/7'))).toString(), 'columns 2', 'of another definition')
  t.equal(Buffer.from(await one.columns(tableForm('uid/7', 2))).toString(), 'columns 3', 'of another memory')
})

t.test('a long list is shared out, and a failure is not remembered', async (t) => {
  const { calls, converter: one } = converter()
  await one.convert(
    PROTOBUF,
    Array.from({ length: 300 }, (_, i) => item(`o@${i}`)),
  )
  t.same(
    calls.map(({ bodies }) => bodies.length),
    [128, 128, 44],
  )
  let broken = true
  const flaky = new Converter({
    clock: new FakeClock(),
    run: async ({ bodies }) => {
      if (broken) throw new Error('no thread')
      return { shown: [...bodies] }
    },
    columns: async () => new Uint8Array(),
  })
  await t.rejects(Promise.resolve(flaky.convert(PROTOBUF, [item('a@1')])), { message: 'no thread' })
  broken = false
  t.same(texts(await flaky.convert(PROTOBUF, [item('a@1')])), ['a@1'])
})

t.test('the cache is bounded in bytes and forgets what was used longest ago', async (t) => {
  const cache = new ConversionCache(3000)
  const bytes = new Uint8Array(700)
  for (const key of ['a', 'b', 'c']) cache.set(key, bytes, Infinity)
  t.ok(cache.get('a', 0))
  cache.set('d', bytes, Infinity)
  t.equal(cache.get('b', 0), undefined)
  t.ok(cache.get('a', 0))
  t.equal(cache.size, 3)
  t.ok(cache.bytes <= 3000)
  cache.set('huge', new Uint8Array(5000), Infinity)
  t.equal(cache.size, 3, 'what would drive out all others is not kept')
})
