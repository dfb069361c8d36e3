import t from 'tap'
import { parseListOptions } from '#keelson/api/list-options.js'
import { MapAttributes } from '#keelson/api/selector.js'
import { parseSelectors } from '#keelson/api/selectors.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { CacheEvent, RecordView } from '#keelson/cacher/memory/shared-memory.js'
import type { ResourceView } from '#keelson/cacher/read/resource-view.js'
import { triggerOf } from '#keelson/cacher/read/trigger.js'
import { HubBatch } from '#keelson/main/verbs/hub-batch.js'
import type { HubFrames } from '#keelson/main/verbs/hub-frames.js'
import { Audience, HubMembers, type HubWatcher } from '#keelson/main/verbs/hub-members.js'
import type { WatchSeries } from '#keelson/main/verbs/read-metrics.js'
import { WatchHub } from '#keelson/main/verbs/watch-hub.js'
import { FakeClock } from '../../support/fake-clock.js'

const FIELDS = ['metadata.name', 'metadata.namespace', 'spec.nodeName']
const ROOT = '/registry/pods/'
const scope = (start: string) => ({ startKey: start, endKey: `${start}\u{ffff}` })
const record = (key: string, fields: Record<string, string>): RecordView => ({
  key,
  uid: '',
  modRevision: 1,
  createRevision: 1,
  labels: new MapAttributes({}),
  fields: new MapAttributes(fields),
  revisionOffset: 0,
  body: () => new Uint8Array(),
})
const event = (now: RecordView, previous?: RecordView): CacheEvent => ({
  type: previous === undefined ? 'ADDED' : 'MODIFIED',
  revision: 1,
  record: now,
  previous,
})
function watcher(fieldSelector: string, start = ROOT): HubWatcher {
  const selectors = parseSelectors(parseListOptions(new URLSearchParams({ fieldSelector }), true), FIELDS)
  return {
    scope: scope(start),
    selectors,
    trigger: triggerOf(selectors, FIELDS),
    seenRevision: 0,
    deliver: () => undefined,
    expired: () => undefined,
    failed: () => undefined,
  }
}
function visited(members: HubMembers, what: CacheEvent): HubWatcher[] {
  const seen: HubWatcher[] = []
  members.visit(what, ({ watchers }) => seen.push(...watchers))
  return seen
}

t.test('five thousand watchers of a node each: an event asks those of its node only', async (t) => {
  const members = new HubMembers()
  const watchers = Array.from({ length: 5000 }, (_, i) => watcher(`spec.nodeName=node-${i}`))
  for (const one of watchers) members.add(one)
  const everything = watcher('')
  members.add(everything)
  const pod = (node: string) => record(`${ROOT}default/a`, { 'spec.nodeName': node })
  t.same(visited(members, event(pod('node-7'))).length, 2)
  t.equal(visited(members, event(pod('node-7')))[0], everything)
  t.equal(visited(members, event(pod('node-7')))[1], watchers[7])
  t.same(
    new Set(visited(members, event(pod('node-8'), pod('node-7')))),
    new Set([everything, watchers[7], watchers[8]]),
    'one that moves is shown to both',
  )
  t.same(visited(members, event(pod(''))), [everything])
  t.ok(watchers.every((one) => members.delete(one)))
  t.notOk(members.delete(watchers[0]!))
  t.equal(members.size, 1)
  t.same(members.all(), [everything])
})

t.test('a name in all namespaces is found by its name, one in a namespace by its key', async (t) => {
  const members = new HubMembers()
  const anywhere = watcher('metadata.name=a')
  const there = watcher('metadata.name=a', `${ROOT}default/a`)
  const namespace = watcher('metadata.namespace=default', `${ROOT}default/`)
  const other = watcher('metadata.name=b')
  for (const one of [anywhere, there, namespace, other]) members.add(one)
  t.equal(namespace.trigger, undefined, 'a namespace is a prefix already')
  const seen = visited(members, event(record(`${ROOT}default/a`, { 'metadata.name': 'a' })))
  t.same(new Set(seen), new Set([anywhere, there, namespace]))
  t.same(visited(members, event(record(`${ROOT}else/a`, { 'metadata.name': 'a' }))), [anywhere])
})

t.test('who asks for the same is one audience, however it is written', async (t) => {
  const members = new HubMembers()
  const alike = [watcher('spec.nodeName=a'), watcher('spec.nodeName=a'), watcher('spec.nodeName==a')]
  for (const one of alike) members.add(one)
  const audiences: Audience[] = []
  const pod = event(record(`${ROOT}default/a`, { 'spec.nodeName': 'a' }))
  members.visit(pod, (audience) => audiences.push(audience))
  t.equal(audiences.length, 1)
  t.same([...audiences[0]!.watchers], alike)
  for (const one of alike) t.ok(members.delete(one))
  t.same(visited(members, pod), [], 'who is gone leads to no audience')
  t.equal(members.size, 0)
})

t.test('events that come together are joined once, and each watcher is written to once', async (t) => {
  const audience = new Audience(watcher('').selectors)
  const got: { name: string; frames: HubFrames }[] = []
  const member = (name: string, seenRevision: number): HubWatcher => ({
    ...watcher(''),
    seenRevision,
    deliver: (frames) => void got.push({ name, frames }),
  })
  for (const [name, seen] of [
    ['new', 1],
    ['newer', 1],
    ['ahead', 3],
    ['far ahead', 4],
  ] as const)
    audience.watchers.add(member(name, seen))
  const batch = new HubBatch()
  for (const [text, revision] of [
    ['b', 2],
    ['c', 3],
    ['d', 4],
  ] as const)
    batch.add(audience, Buffer.from(text), revision)
  const counted: [number, number][] = []
  const series = { sent: (bytes: number, times: number) => counted.push([bytes, times]) } as unknown as WatchSeries
  batch.deliver(series)
  t.same(
    got.map(({ name, frames }) => [name, Buffer.from(frames.joined()).toString(), frames.revision]),
    [
      ['new', 'bcd', 4],
      ['newer', 'bcd', 4],
      ['ahead', 'd', 4],
    ],
    'who has seen some of it gets the rest, who has seen it all nothing',
  )
  t.equal(got[0]!.frames.joined(), got[1]!.frames.joined(), 'the same bytes')
  t.equal(got[2]!.frames.joined(), got[2]!.frames.frames[0], 'one frame is not copied')
  t.equal(
    counted.reduce((sum, [, times]) => sum + times, 0),
    7,
    'every event at every watcher is counted',
  )
})

t.test('a batch is full at some bytes or events', async (t) => {
  const audience = new Audience(watcher('').selectors)
  const large = new HubBatch()
  t.notOk(large.full)
  large.add(audience, Buffer.alloc(1024 * 1024), 1)
  t.ok(large.full)
  const many = new HubBatch()
  for (let i = 0; i < 1000; i++) many.begin()
  t.ok(many.full)
})

/** A hub over an arena of this thread; every delivery takes `costMs` of a clock that stands still otherwise. */
function hubWith(costMs: number) {
  const owner = new MemoryOwner()
  const writer = owner.createArena('pods')
  writer.setReady(true)
  const arena = owner.localReader().arena('pods')!
  const clock = new FakeClock()
  const listeners = new Set<(revision: number) => void>()
  let revision = 0
  const view = {
    clock: {
      revision: () => revision,
      onAdvance: (listener: (revision: number) => void) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
  } as unknown as ResourceView
  const hub = new WatchHub(arena, view, { sent: () => undefined } as unknown as WatchSeries, clock)
  const batches: number[] = []
  const watching: HubWatcher = {
    ...watcher(''),
    deliver: ({ frames }) => {
      batches.push(frames.length)
      // Nothing is due meanwhile, so the time has passed when this returns.
      void clock.advance(costMs)
    },
  }
  const put = (): void => {
    const body = Buffer.from('{"metadata":{"resourceVersion":"","name":"a"}}')
    const draft = { uid: '', labels: [], fields: [], body, revisionOffset: body.indexOf('""') + 1 }
    revision++
    writer.put(`${ROOT}default/a`, draft, revision, 1)
    writer.publish(revision)
    owner.clock.advance(revision)
    for (const listener of listeners) listener(revision)
  }
  return { hub, watching, put, batches, clock, close: () => owner.close() }
}

t.test('after a round that took long the hub rests as long, and what came meanwhile goes out together', async (t) => {
  const { hub, watching, put, batches, clock, close } = hubWith(4)
  t.ok(hub.join(watching))
  put()
  t.same(batches, [1], 'the first event goes out at once')
  put()
  put()
  t.same(batches, [1], 'while the hub rests nothing is written')
  await clock.advance(3)
  t.same(batches, [1])
  await clock.advance(1)
  t.same(batches, [1, 2])
  await clock.advance(100)
  put()
  t.same(batches, [1, 2, 1], 'once it has rested an event goes out at once again')
  close()
})

t.test('rounds that cost little are followed by no rest', async (t) => {
  const { hub, watching, put, batches, close } = hubWith(0)
  t.ok(hub.join(watching))
  for (let i = 0; i < 3; i++) put()
  t.same(batches, [1, 1, 1])
  close()
})
