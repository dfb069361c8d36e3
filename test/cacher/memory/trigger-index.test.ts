import t from 'tap'
import { FieldIndex } from '#keelson/cacher/memory/field-index.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { Snapshot } from '#keelson/cacher/memory/shared-memory.js'
import { TriggerIndex } from '#keelson/cacher/memory/trigger-index.js'
import { draft } from './draft.js'

function setUp(options = {}) {
  const owner = new MemoryOwner()
  const writer = owner.createArena('pods', options)
  const arena = owner.localReader().arena('pods')!
  writer.setReady(true)
  let revision = 0
  const publish = () => {
    writer.publish(revision)
    owner.clock.advance(revision)
  }
  const put = (key: string, node: string) => {
    writer.put(key, draft(key, { node }), ++revision, revision)
    publish()
  }
  const remove = (key: string) => {
    writer.delete(key, ++revision)
    publish()
  }
  return { writer, arena, put, remove }
}

const ALL = { startKey: '', endKey: '' }

t.test('an event reaches the watchers of its value, of the value before, and those of every value, once', async (t) => {
  const { arena, put, remove } = setUp()
  const index = new TriggerIndex<string>('spec.nodeName')
  index.add('n1', 'watcher of n1')
  const stop = index.add('n1', 'another of n1')
  index.add('n2', 'watcher of n2')
  index.add('', 'watcher of none')
  index.add(undefined, 'watcher of all')
  t.equal(index.size, 5)
  const cursor = arena.cursor(0)
  const told = () => {
    const watchers: string[] = []
    cursor.advance((event) => index.visit(event, (watcher) => watchers.push(watcher)) ?? true)
    return watchers.sort()
  }
  put('a', '')
  t.same(told(), ['watcher of all', 'watcher of none'])
  put('a', 'n1')
  t.same(told(), ['another of n1', 'watcher of all', 'watcher of n1', 'watcher of none'])
  stop()
  put('a', 'n1')
  t.same(told(), ['watcher of all', 'watcher of n1'])
  put('a', 'n2')
  t.same(told(), ['watcher of all', 'watcher of n1', 'watcher of n2'])
  put('b', 'n3')
  t.same(told(), ['watcher of all'])
  remove('a')
  t.same(told(), ['watcher of all', 'watcher of n2'])
})

t.test('a watcher that falls behind goes on with a fork after the event it was shown', async (t) => {
  const { arena, put } = setUp()
  const cursor = arena.cursor(0)
  put('a', 'n1')
  put('b', 'n1')
  put('c', 'n1')
  let fork: ReturnType<typeof cursor.fork> | undefined
  cursor.advance((event) => {
    if (event.record.key === 'a') fork = cursor.fork()
    return true
  })
  const seen: string[] = []
  t.equal(
    fork?.advance((event) => void seen.push(event.record.key)),
    'current',
  )
  t.same(seen, ['b', 'c'])
})

t.test('a field index gives what reading the whole snapshot gives, at every state of the window', async (t) => {
  const { arena, put, remove } = setUp({ maxEvents: 1024 })
  const index = new FieldIndex({ arena, field: 'spec.nodeName' })
  const read = (snapshot: Snapshot, value: string, range = ALL) => {
    const found: string[] = []
    snapshot.scan(range.startKey, range.endKey, (record) => {
      if ((record.fields.get('spec.nodeName') ?? '') === value) found.push(`${record.key}@${record.modRevision}`)
      return true
    })
    return found
  }
  const indexed = (snapshot: Snapshot, value: string, range = ALL) => {
    const found: string[] = []
    const served = index.scan(
      snapshot,
      value,
      range,
      (record) => void found.push(`${record.key}@${record.modRevision}`),
    )
    return served ? found : undefined
  }
  const held: Snapshot[] = []
  let served = 0
  for (let round = 0; round < 30; round++) {
    for (let i = 0; i < 300; i++) {
      const n = (round * 7919 + i * 104729) % 1000
      const key = `/registry/pods/ns-${n % 5}/p${n}`
      if (i % 4 === 0) remove(key)
      else put(key, `node-${(n + round) % 120}`)
    }
    const snapshot = arena.snapshot()
    for (const value of ['node-3', 'node-17', 'nowhere']) {
      t.same(indexed(snapshot, value), read(snapshot, value), `${value} in round ${round}`)
      const range = { startKey: '/registry/pods/ns-2/', endKey: '/registry/pods/ns-20' }
      t.same(indexed(snapshot, value, range), read(snapshot, value, range))
    }
    held.push(snapshot)
    for (const older of held.slice(-6)) {
      const found = indexed(older, 'node-3')
      if (found === undefined) continue
      served++
      t.same(found, read(older, 'node-3'), `state ${older.revision} in round ${round}`)
    }
  }
  t.ok(served > 60, `${served} older states served`)
  t.equal(indexed(held[0]!, 'node-3'), undefined, 'a state that has left the window is not')
  for (const snapshot of held) snapshot.release()
})

t.test('a field index starts anew when the window has passed it', async (t) => {
  const { arena, put } = setUp({ minEvents: 16, maxEvents: 16 })
  const index = new FieldIndex({ arena, field: 'spec.nodeName' })
  const keys = () => {
    const snapshot = arena.snapshot()
    const found: string[] = []
    t.equal(
      index.scan(snapshot, 'n1', ALL, (record) => void found.push(record.key)),
      true,
    )
    snapshot.release()
    return found
  }
  put('a', 'n1')
  t.same(keys(), ['a'])
  for (let i = 0; i < 100; i++) put(`other-${i}`, 'n2')
  put('b', 'n1')
  t.same(keys(), ['a', 'b'])
})
