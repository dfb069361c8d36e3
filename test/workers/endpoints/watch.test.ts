import { MessageChannel, type MessagePort } from 'node:worker_threads'
import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { BATCH_EVENTS, BATCHES_UNDER_WAY, type StorageWatchMessage } from '#keelson/protocol/storage-watch.js'
import { watch } from '#keelson/workers/endpoints/watch.js'
import { EndpointFixture, refusal } from '../../support/endpoint-fixture.js'
import { until } from '../../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io'

interface Opened {
  readonly messages: StorageWatchMessage[]
  readonly port: MessagePort
  closed: boolean
  events(): { type: string; object: KubeObject }[]
}

async function open(fixture: EndpointFixture, query: string, { takes = true, accept = '' } = {}): Promise<Opened> {
  const { port1, port2 } = new MessageChannel()
  const messages: StorageWatchMessage[] = []
  const opened: Opened = {
    messages,
    port: port2,
    closed: false,
    events: () =>
      messages.flatMap((message) =>
        message.type === 'events'
          ? message.events.map(({ type, object }) => ({
              type,
              object: JSON.parse(Buffer.from(object).toString()) as KubeObject,
            }))
          : [],
      ),
  }
  port2.on('message', (message: StorageWatchMessage) => {
    messages.push(message)
    if (takes) port2.postMessage('taken')
  })
  port2.on('close', () => (opened.closed = true))
  t.teardown(() => port2.close())
  await watch(fixture.worker('GET', `${CONFIGMAPS}?watch=true&${query}`, { accept }), port1)
  return opened
}

const named = (name: string, labels: object = {}) => ({ metadata: { name, labels } })

t.test('what exists, then what changes', async (t) => {
  const fixture = new EndpointFixture()
  await fixture.create(CONFIGMAPS, named('a'))
  const watching = await open(fixture, 'resourceVersion=0')
  await until(() => watching.events().length === 1, { what: 'the object that exists' })
  await fixture.create(CONFIGMAPS, named('b', { x: 'y' }))
  await fixture.interfere(`${CONFIGMAPS}/b`, (object) => {
    object['data'] = { k: 'v' }
  })
  await until(() => watching.events().length === 3, { what: 'a creation and a change' })
  t.same(
    watching.events().map(({ type, object }) => [type, object.kind, object.metadata?.name]),
    [
      ['ADDED', 'ConfigMap', 'a'],
      ['ADDED', 'ConfigMap', 'b'],
      ['MODIFIED', 'ConfigMap', 'b'],
    ],
  )
})

t.test('selectors decide what is seen; what leaves the selection is deleted', async (t) => {
  const fixture = new EndpointFixture()
  const watching = await open(fixture, 'resourceVersion=1&labelSelector=x%3Dy')
  await fixture.create(CONFIGMAPS, named('a'))
  await fixture.create(CONFIGMAPS, named('b', { x: 'y' }))
  await fixture.interfere(`${CONFIGMAPS}/b`, ({ metadata }) => {
    metadata!.labels = {}
  })
  await until(() => watching.events().length === 2, { what: 'two events' })
  t.same(
    watching.events().map(({ type, object }) => [type, object.metadata?.name]),
    [
      ['ADDED', 'b'],
      ['DELETED', 'b'],
    ],
  )
})

t.test('a table shows its columns in its first event alone', async (t) => {
  const fixture = new EndpointFixture()
  const watching = await open(fixture, 'resourceVersion=1', { accept: TABLE })
  await fixture.create(CONFIGMAPS, named('a'))
  await fixture.create(CONFIGMAPS, named('b'))
  await until(() => watching.events().length === 2, { what: 'two rows' })
  const columns = watching.events().map(({ object }) => (object['columnDefinitions'] as unknown[] | null)?.length)
  t.same(columns, [3, undefined])
})

t.test('the bookmark that ends the initial events says so', async (t) => {
  const fixture = new EndpointFixture()
  await fixture.create(CONFIGMAPS, named('a'))
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const watching = await open(fixture, query)
  await until(() => watching.events().length === 2, { what: 'an object and the bookmark' })
  t.match(watching.events()[1], {
    type: 'BOOKMARK',
    object: { kind: 'ConfigMap', metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
  })
})

t.test('who does not take what is sent gets no more than the limit', async (t) => {
  const fixture = new EndpointFixture()
  const watching = await open(fixture, 'resourceVersion=1', { takes: false })
  const count = BATCH_EVENTS * (BATCHES_UNDER_WAY + 4)
  for (let i = 0; i < count; i++) await fixture.create(CONFIGMAPS, named(`n${i}`))
  await until(() => watching.messages.length >= BATCHES_UNDER_WAY, { what: 'as many batches as may be under way' })
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(watching.messages.length, BATCHES_UNDER_WAY)
  watching.port.on('message', () => watching.port.postMessage('taken'))
  for (let i = 0; i < BATCHES_UNDER_WAY; i++) watching.port.postMessage('taken')
  await until(() => watching.events().length === count, { what: 'the rest, when there is room again' })
})

t.test('a storage that fails ends the watch with a Status', async (t) => {
  const fixture = new EndpointFixture()
  const watching = await open(fixture, 'resourceVersion=1')
  fixture.kv.failNext({ call: 'watch', when: 'after' })
  await fixture.create(CONFIGMAPS, named('a'))
  await until(() => watching.closed, { what: 'the end of the watch' })
  t.match(watching.messages.at(-1), { type: 'error', status: { code: 504 } })
})

t.test('a revision that was compacted is Expired', async (t) => {
  const fixture = new EndpointFixture()
  for (const name of ['a', 'b', 'c']) await fixture.create(CONFIGMAPS, named(name))
  await fixture.memory.compact(await fixture.memory.currentRevision())
  const watching = await open(fixture, 'resourceVersion=1')
  await until(() => watching.closed, { what: 'the end of the watch' })
  t.match(watching.messages, [{ type: 'error', status: { code: 410, reason: 'Expired' } }])
})

t.test('a port that closes ends the watch in the storage', async () => {
  const fixture = new EndpointFixture()
  const watching = await open(fixture, 'resourceVersion=1')
  await until(() => fixture.kv.watchesOpen === 1, { what: 'the watch in the storage' })
  watching.port.close()
  await until(() => fixture.kv.watchesOpen === 0, { what: 'the end of the watch in the storage' })
})

t.test('what the client is told in place of a watch is thrown', async (t) => {
  const fixture = new EndpointFixture()
  t.match(await refusal(open(fixture, 'labelSelector=%3D%3D')), { code: 400 })
  t.match(await refusal(open(fixture, '', { accept: 'text/html' })), { code: 406 })
})
