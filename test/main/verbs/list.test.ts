/** What a list holds of shared memory when it fails at any of its steps. */
import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { FieldIndexes } from '#keelson/cacher/read/field-indexes.js'
import type { ResourceView } from '#keelson/cacher/read/resource-view.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import { listObjects } from '#keelson/main/verbs/list.js'
import type { ObjectForm } from '#keelson/main/verbs/object-form.js'
import type { ReadContext, ReadRequest } from '#keelson/main/verbs/read-context.js'
import { draft } from '../../cacher/memory/draft.js'
import { FakePort, requestHead } from '../http/fake-port.js'

const OBJECTS = 10

const bang = (): never => {
  throw new Error('bang')
}

/** A list of real shared memory, whose parts can be made to fail. */
function setUp() {
  const owner = new MemoryOwner()
  const writer = owner.createArena('pods', { windowBytes: 1 << 20, minEvents: 4, maxEvents: 64 })
  const arena = owner.localReader().arena('pods')!
  writer.setReady(true)
  for (let i = 1; i <= OBJECTS; i++) {
    writer.put(`/pods/${i}`, draft(`/pods/${i}`, {}), i, i)
    writer.publish(i)
    owner.clock.advance(i)
  }
  const view = { clock: owner.clock, fence: { pass: () => true }, arena: () => arena } as unknown as ResourceView
  const resource = {
    info: { namespaced: true },
    selectableFields: [],
    indexedFields: [],
    rootKey: () => '/pods/',
    listHead: () => '{"items":[',
    itemSkip: () => 0,
    tableHead: () => '{"columnDefinitions":',
  }
  const port = new FakePort()
  const exchange = new Exchange(requestHead(), port)
  const request = { query: new URLSearchParams(), info: { namespace: '', name: '' }, resource, exchange }
  const series = { listed: () => undefined, waited: () => undefined, consistent: () => undefined }
  const held = { next: () => undefined, finish: () => undefined, start: () => undefined }
  const context = {
    indexes: new FieldIndexes(),
    metrics: { lists: () => series },
    converter: { convert: async () => [], columns: async () => Buffer.from('[]') },
    slowLists: { hold: () => held },
  }
  const run = (form?: object): Promise<boolean> =>
    listObjects(
      request as unknown as ReadRequest,
      view,
      context as unknown as ReadContext,
      form as ObjectForm | undefined,
    )
  return { arena, resource, series, exchange, context, held, run }
}
type Parts = ReturnType<typeof setUp>

const ROWS = { form: { shape: 'row' }, accepted: { transformation: undefined }, contentType: '', isText: true }
const FAILURES: readonly [name: string, breaks: (parts: Parts) => void, form?: object][] = [
  ['finding the objects', ({ context }) => (context.indexes.scan = bang)],
  ['counting them', ({ series }) => (series.listed = bang)],
  ['the head of the list', ({ resource }) => (resource.listHead = bang)],
  ['the length of the list', ({ resource }) => (resource.itemSkip = bang)],
  ['holding the list', ({ context }) => (context.slowLists.hold = bang)],
  ['the answer', ({ exchange }) => (exchange.respondSized = bang)],
  ['the time of the pin', ({ held }) => (held.start = bang)],
  ['counting those in another form', ({ series }) => (series.listed = bang), ROWS],
  ['the head of a table', ({ resource }) => (resource.tableHead = bang), ROWS],
]

for (const [name, breaks, form] of FAILURES)
  t.test(`a list that fails lets its state go: ${name}`, async (t) => {
    const parts = setUp()
    breaks(parts)
    t.equal(parts.arena.pins(), 0)
    await t.rejects(parts.run(form), { message: 'bang' })
    t.equal(parts.arena.pins(), 0)
  })

t.test('objects that cannot be converted here are left to the pool, and their state is let go', async (t) => {
  const parts = setUp()
  parts.context.converter.convert = bang
  t.equal(await parts.run(ROWS), false)
  t.equal(parts.arena.pins(), 0)
})
