import t from 'tap'
import { parseListOptions } from '#keelson/api/list-options.js'
import { MapAttributes } from '#keelson/api/selector.js'
import { parseSelectors } from '#keelson/api/selectors.js'
import type { CacheEvent, RecordView } from '#keelson/cacher/shared-memory.js'
import { HubMembers, type HubWatcher, triggerOf } from '#keelson/main/verbs/hub-members.js'

const FIELDS = ['metadata.name', 'metadata.namespace', 'spec.nodeName']
const ROOT = '/registry/pods/'
const scope = (start: string) => ({ start, end: `${start}\u{ffff}` })
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
    deliver: () => true,
    expired: () => undefined,
    failed: () => undefined,
  }
}
function visited(members: HubMembers, what: CacheEvent): HubWatcher[] {
  const seen: HubWatcher[] = []
  members.visit(what, (one) => seen.push(one))
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
