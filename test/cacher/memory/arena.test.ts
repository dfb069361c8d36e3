import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { ArenaReader, CacheEvent } from '#keelson/cacher/memory/shared-memory.js'
import { isStorageError } from '#keelson/storage/contract/errors.js'
import { draft, text } from './draft.js'

function setUp(options = {}) {
  const owner = new MemoryOwner()
  const writer = owner.createArena('pods', options)
  const reader = owner.localReader()
  const arena = reader.arena('pods')!
  writer.setReady(true)
  const apply = (revision: number, change: () => void) => {
    change()
    writer.publish(revision)
    owner.clock.advance(revision)
  }
  return { owner, writer, reader, arena, apply }
}

function keys(arena: ArenaReader, revision?: number): string[] {
  const snapshot = arena.snapshot(revision)
  const found: string[] = []
  snapshot.scan('', '', (record) => void found.push(`${record.key}@${record.modRevision}`))
  snapshot.release()
  return found
}

t.test('an object is read as it was written, with its revision in the body', async (t) => {
  const { arena, writer, apply } = setUp()
  const labels = ['app', 'web', 'größe', 'groß']
  apply(7, () => writer.put('/registry/pods/a/x', draft('x', { node: 'n1', labels }), 7, 7))
  const snapshot = arena.snapshot()
  const record = snapshot.get('/registry/pods/a/x')
  t.equal(record?.key, '/registry/pods/a/x')
  t.equal(record?.uid, 'uid-x')
  t.equal(record?.modRevision, 7)
  t.equal(record?.createRevision, 7)
  t.equal(record?.labels.get('app'), 'web')
  t.equal(record?.labels.get('größe'), 'groß')
  t.equal(record?.labels.get('ap'), undefined)
  t.equal(record?.labels.has('apps'), false)
  t.equal(record?.fields.get('spec.nodeName'), 'n1')
  t.equal(text(record!.body()), '{"metadata":{"name":"x","resourceVersion":"7"},"filler":""}')
  t.equal(snapshot.get('/registry/pods/a'), undefined)
  t.equal(snapshot.get('/registry/pods/a/y'), undefined)
  t.equal(snapshot.get(''), undefined)
  snapshot.release()
})

t.test('each revision keeps its state while it is in the window', async (t) => {
  const { arena, writer, apply } = setUp()
  apply(1, () => writer.put('a', draft('a'), 1, 1))
  apply(2, () => writer.put('b', draft('b'), 2, 2))
  apply(3, () => writer.put('a', draft('a'), 3, 1))
  apply(5, () => writer.delete('b', 5))
  t.same(keys(arena, 1), ['a@1'])
  t.same(keys(arena, 2), ['a@1', 'b@2'])
  t.same(keys(arena, 3), ['a@3', 'b@2'])
  t.same(keys(arena, 4), ['a@3', 'b@2'])
  t.same(keys(arena, 5), ['a@3'])
  t.same(keys(arena), ['a@3'])
  t.throws(() => arena.snapshot(6), { code: 'too-large' })
})

t.test('nothing is visible before it is published and the clock has moved', async (t) => {
  const { owner, arena, writer, apply } = setUp()
  apply(1, () => writer.put('a', draft('a'), 1, 1))
  const cursor = arena.cursor(1)
  writer.put('b', draft('b'), 2, 2)
  t.same(keys(arena), ['a@1'])
  writer.publish(2)
  t.same(keys(arena), ['a@1'], 'published but the clock is behind')
  t.equal(
    cursor.advance(() => t.fail('not yet')),
    'current',
  )
  owner.clock.advance(2)
  t.same(keys(arena), ['a@1', 'b@2'])
  const seen: string[] = []
  cursor.advance((event) => void seen.push(event.record.key))
  t.same(seen, ['b'])
})

t.test('a cursor sees every event once, with the states before and after it', async (t) => {
  const { arena, writer, apply } = setUp()
  apply(1, () => writer.put('a', draft('a', { node: 'n1' }), 1, 1))
  const cursor = arena.cursor(0)
  const late = arena.cursor(1)
  apply(2, () => {
    writer.put('a', draft('a', { node: 'n2' }), 2, 1)
    writer.put('b', draft('b'), 2, 2)
  })
  apply(999, () => writer.delete('a', 999))
  writer.delete('nothing', 1000)
  const tell = (event: CacheEvent) =>
    `${event.type} ${event.record.key}@${event.record.modRevision} before ${event.previous?.fields.get('spec.nodeName')}`
  const seen: string[] = []
  t.equal(
    cursor.advance((event) => void seen.push(tell(event))),
    'current',
  )
  const all = [
    'ADDED a@1 before undefined',
    'MODIFIED a@2 before n1',
    'ADDED b@2 before undefined',
    'DELETED a@999 before n2',
  ]
  t.same(seen, all)
  t.equal(cursor.revision, 999)
  const bodies: string[] = []
  t.equal(
    late.advance((event) => bodies.push(text(event.record.body())) < 1),
    'more',
  )
  t.equal(late.revision, 1, 'one event of revision 2 is still to come')
  t.equal(
    late.advance((event) => bodies.push(text(event.record.body())) < 2),
    'more',
  )
  t.ok(late.revision >= 2 && late.revision < 999)
  t.equal(
    late.advance((event) => void bodies.push(text(event.record.body()))),
    'current',
  )
  t.equal(bodies.length, 3)
  t.match(bodies[2], '"resourceVersion":"999"', 'a deletion carries its own revision')
})

t.test('a cursor that asked for a revision ahead of the clock is not shown what comes before it', async (t) => {
  const { arena, writer, apply } = setUp()
  const cursor = arena.cursor(2)
  apply(1, () => writer.put('a', draft('a'), 1, 1))
  apply(2, () => writer.put('b', draft('b'), 2, 2))
  apply(3, () => writer.put('c', draft('c'), 3, 3))
  const seen: string[] = []
  cursor.advance((event) => void seen.push(event.record.key))
  t.same(seen, ['c'])
})

t.test('replace() gives a new state, expires older cursors and keeps records that did not change', async (t) => {
  const { arena, writer, apply, owner } = setUp()
  apply(1, () => writer.put('a', draft('a'), 1, 1))
  apply(2, () => writer.put('b', draft('b'), 2, 2))
  const cursor = arena.cursor(1)
  const held = arena.snapshot()
  const recordAt = held.get('a')!.body().byteOffset
  writer.replace(
    [
      { key: 'a', draft: draft('a'), modRevision: 1, createRevision: 1 },
      { key: 'c', draft: draft('c'), modRevision: 9, createRevision: 9 },
    ],
    10,
  )
  t.same(keys(arena), ['a@1', 'b@2'], 'not before it is published')
  writer.publish(10)
  const between = arena.snapshot()
  t.equal(between.revision, 10, 'between publication and clock the new state is served as what it is')
  between.release()
  owner.clock.advance(10)
  t.same(keys(arena), ['a@1', 'c@9'])
  t.equal(arena.snapshot().get('a')!.body().byteOffset, recordAt)
  t.equal(
    cursor.advance(() => t.fail('expired')),
    'expired',
  )
  t.equal(arena.oldestRevision(), 10)
  t.throws(() => arena.snapshot(2), { code: 'too-old' })
  t.throws(() => arena.cursor(2), { code: 'too-old' })
  t.equal(held.get('b')?.key, 'b', 'who holds the old state still reads it')
  held.release()
  t.throws(
    () =>
      writer.replace(
        [
          { key: 'b', draft: draft('b'), modRevision: 1, createRevision: 1 },
          { key: 'a', draft: draft('a'), modRevision: 1, createRevision: 1 },
        ],
        11,
      ),
    /ascending/,
  )
  t.same(keys(arena), ['a@1', 'c@9'])
})

t.test('a slow cursor expires when the ring has passed it, and only then', async (t) => {
  const { arena, writer, apply } = setUp({ minEvents: 16, maxEvents: 16 })
  const slow = arena.cursor(0)
  const quick = arena.cursor(0)
  let seen = 0
  for (let revision = 1; revision <= 100; revision++) {
    apply(revision, () => writer.put(`k${revision % 5}`, draft('k'), revision, 1))
    t.equal(
      quick.advance(() => void seen++),
      'current',
    )
  }
  t.equal(seen, 100)
  t.equal(
    slow.advance(() => t.fail('gone')),
    'expired',
  )
  const oldest = arena.oldestRevision()
  t.ok(oldest > 80 && oldest <= 90, `window begins at ${oldest}`)
  let error: unknown
  try {
    arena.snapshot(oldest - 1)
  } catch (thrown) {
    error = thrown
  }
  t.ok(isStorageError(error, 'too-old'))
  t.equal(keys(arena, oldest).length, 5)
})

t.test('numbers of events may wrap around', async (t) => {
  const { arena, writer, apply } = setUp({ minEvents: 16, maxEvents: 16, firstSequence: 0x7fffffff - 20 })
  const cursor = arena.cursor(0)
  const held = arena.snapshot()
  let seen = 0
  for (let revision = 1; revision <= 60; revision++) {
    apply(revision, () => writer.put('k', draft('k'), revision, 1))
    t.equal(
      cursor.advance((event) => void t.equal(event.revision, ++seen)),
      'current',
    )
    if (revision > 3) t.same(keys(arena, revision - 2), [`k@${revision - 2}`])
  }
  t.equal(held.size, 0)
  t.ok(writer.memory().pinnedBytes > 0)
  held.release()
  writer.reclaim()
  t.equal(writer.memory().pinnedBytes, 0)
})

t.test('a whole state comes in parts, and nobody sees it before it is complete', async (t) => {
  const { arena, writer, apply } = setUp()
  const entry = (key: string, modRevision: number, filler = '') => ({
    key,
    draft: draft(key, { filler }),
    modRevision,
    createRevision: 1,
  })
  apply(1, () => writer.put('a', draft('a'), 1, 1))
  const given = writer.memory().usedBytes
  const dropped = writer.beginReplace()
  dropped.add([entry('a', 1), entry('b', 2, 'b'.repeat(5000))])
  dropped.add([entry('c', 2)])
  t.same(keys(arena), ['a@1'])
  t.throws(() => writer.put('d', draft('d'), 3, 3), 'there is one change at a time')
  dropped.abandon()
  t.equal(writer.memory().usedBytes, given, 'a state that is given up leaves nothing behind')
  const replacement = writer.beginReplace()
  replacement.add([entry('b', 2)])
  replacement.add([])
  replacement.add([entry('c', 3), entry('d', 3)])
  t.throws(() => replacement.add([entry('c', 3)]), 'keys ascend over all parts')
  apply(3, () => replacement.finish(3))
  t.same(keys(arena), ['b@2', 'c@3', 'd@3'])
  apply(4, () => writer.put('e', draft('e'), 4, 4))
  t.same(keys(arena), ['b@2', 'c@3', 'd@3', 'e@4'])
})

t.test('what memory costs is told by kind, down to the last byte', async (t) => {
  const { writer, apply } = setUp()
  const empty = writer.costs()
  let revision = 0
  for (; revision < 1000; ) {
    const name = `pod-${revision % 300}`
    apply(++revision, () => writer.put(name, draft(name, { filler: 'x'.repeat(revision % 1500) }), revision, 1))
  }
  for (let i = 0; i < 50; i++) apply(++revision, () => writer.delete(`pod-${i}`, revision))
  const costs = writer.costs()
  const memory = writer.memory()
  t.equal(memory.objects, 250)
  t.equal(
    costs.controlBytes - empty.controlBytes,
    32 * (costs.segments - 1),
    'only both ends of a segment come with more',
  )
  t.ok(costs.bodyBytes > 250 * 60)
  t.ok(costs.headBytes > 250 * 100)
  t.ok(costs.indexBytes >= 250 * 8)
  t.equal(costs.ringBytes % 16, 0)
  t.ok(costs.ringBytes >= memory.capacity * 32)
  writer.close()
  t.equal(writer.costs().bodyBytes, 0)
})

t.test('what the store has forgotten need not be kept, but for the smallest window', async (t) => {
  const { arena, writer, apply } = setUp({ minEvents: 8 })
  let revision = 0
  const change = (): void => {
    revision++
    apply(revision, () => writer.put('a', draft('a', { filler: 'x'.repeat(3000) }), revision, 1))
  }
  for (let i = 0; i < 500; i++) change()
  const before = writer.memory()
  t.ok(before.capacity >= 512)
  writer.forget(400)
  t.equal(arena.oldestRevision(), 400)
  t.same(keys(arena, 400), ['a@400'], 'the state at which the store was compacted is still there')
  t.throws(() => arena.snapshot(399), { code: 'too-old' })
  const seen: number[] = []
  arena.cursor(400).advance((event) => void seen.push(event.revision))
  t.same(
    seen,
    Array.from({ length: 100 }, (_, i) => 401 + i),
  )
  const after = writer.memory()
  t.equal(after.capacity, 128)
  t.ok(after.windowBytes < before.windowBytes / 3)
  t.ok(after.usedBytes < before.usedBytes / 3)
  writer.forget(500)
  t.equal(writer.memory().capacity, 8)
  t.equal(arena.oldestRevision(), 494, 'a quiet resource keeps its last events')
  writer.forget(500)
  for (let i = 0; i < 20; i++) change()
  t.same(keys(arena), ['a@520'])
  t.equal(writer.memory().events, 26)
  writer.close()
  writer.forget(600)
})
