import t from 'tap'
import { ArenaFullError } from '#keelson/cacher/memory/arena-allocator.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { draft, text } from './draft.js'

function setUp(options = {}) {
  const owner = new MemoryOwner()
  const writer = owner.createArena('things', options)
  const reader = owner.localReader()
  writer.setReady(true)
  let revision = 0
  const put = (key: string, bytes: number) => {
    revision++
    writer.put(key, draft(key, { filler: 'x'.repeat(bytes) }), revision, revision)
    writer.publish(revision)
    owner.clock.advance(revision)
  }
  return { owner, writer, reader, arena: reader.arena('things')!, put }
}

t.test('an idle arena costs 16 KiB', async (t) => {
  const { writer } = setUp()
  t.equal(writer.memory().segmentBytes, 16 * 1024)
})

t.test(
  'at its limit an arena shortens its window first, then throws and leaves what is visible as it was',
  async (t) => {
    const limitBytes = 2 * 1024 * 1024
    const { writer, arena, put } = setUp({ limitBytes })
    for (let i = 0; i < 2000; i++) put('one', 4000)
    t.ok(writer.memory().segmentBytes <= limitBytes)
    t.ok(arena.oldestRevision() > 1000, 'the window gave way')
    let last = 0
    t.throws(
      () => {
        for (; ; last++) put(`many-${last}`, 4000)
      },
      { name: 'ArenaFullError', code: 'arena-full' },
    )
    t.ok(last > 300, `${last} objects of 4 KB in 2 MiB`)
    t.ok(writer.memory().segmentBytes <= limitBytes)
    const snapshot = arena.snapshot()
    t.equal(snapshot.size, last + 1)
    const wrong = Array.from({ length: last }, (_, i) => i).filter(
      (i) => !text(snapshot.get(`many-${i}`)!.body()).endsWith(`${'x'.repeat(4000)}"}`),
    )
    t.same(wrong, [])
    t.equal(snapshot.get(`many-${last}`), undefined)
    snapshot.release()
  },
)

t.test('replace() beyond the limit throws and leaves the state before it', async (t) => {
  const { writer, arena, put } = setUp({ limitBytes: 1024 * 1024 })
  put('a', 100)
  const used = writer.memory().usedBytes
  const entries = Array.from({ length: 1000 }, (_, i) => ({
    key: `k${String(i).padStart(4, '0')}`,
    draft: draft('k', { filler: 'x'.repeat(4000) }),
    modRevision: 2,
    createRevision: 2,
  }))
  t.throws(() => writer.replace(entries, 2), ArenaFullError)
  t.ok(writer.memory().usedBytes <= used)
  const snapshot = arena.snapshot()
  t.equal(snapshot.size, 1)
  t.ok(snapshot.get('a'))
  snapshot.release()
})

t.test('objects of several megabytes are held, and their memory given back', async (t) => {
  const { writer, arena, put } = setUp({ windowBytes: 8 * 1024 * 1024 })
  put('small', 10)
  for (const bytes of [300_000, 3 * 1024 * 1024, 17 * 1024 * 1024, 3 * 1024 * 1024]) {
    put('big', bytes)
    const snapshot = arena.snapshot()
    const body = snapshot.get('big')!.body()
    t.equal(Buffer.from(body).toString('latin1').split('x').length - 1, bytes)
    snapshot.release()
  }
  put('big', 10)
  for (let i = 0; i < 100; i++) put('small', 200_000)
  put('small', 10)
  t.ok(writer.memory().windowBytes <= 8 * 1024 * 1024)
  t.ok(writer.memory().segmentBytes < 16 * 1024 * 1024, `${writer.memory().segmentBytes} bytes of segments`)
})

t.test('a pin holds memory back until it is released, or its thread is', async (t) => {
  const { owner, writer, reader, arena, put } = setUp({ minEvents: 8, maxEvents: 8 })
  put('a', 10)
  const held = arena.snapshot()
  const newer = arena.snapshot()
  t.equal(arena.pins(), 2)
  for (let i = 0; i < 50; i++) put('a', 4000)
  t.ok(writer.memory().pinnedBytes > 40 * 4000)
  t.equal(held.get('a')?.modRevision, 1)
  newer.release()
  writer.reclaim()
  t.ok(writer.memory().pinnedBytes > 40 * 4000, 'the other pin is as old')
  t.throws(() => newer.release(), /twice/)
  held.release()
  writer.reclaim()
  t.equal(writer.memory().pinnedBytes, 0)
  t.throws(() => held.get('a'), /after its release/)

  arena.snapshot()
  for (let i = 0; i < 50; i++) put('a', 4000)
  t.ok(writer.memory().pinnedBytes > 40 * 4000)
  owner.release(reader.number)
  writer.reclaim()
  t.equal(writer.memory().pinnedBytes, 0)
})

t.test('a closed arena is not ready and may be made again under its name', async (t) => {
  const { owner, writer, reader, arena, put } = setUp()
  put('a', 10)
  const cursor = arena.cursor(0)
  const held = arena.snapshot()
  writer.setReady(false)
  t.equal(arena.ready(), false)
  t.throws(() => arena.snapshot(), { code: 'not-ready' })
  writer.close()
  t.equal(reader.arena('things'), undefined)
  t.equal(
    cursor.advance(() => undefined),
    'expired',
  )
  t.equal(held.get('a')?.key, 'a', 'who was reading may finish')
  held.release()
  t.equal(writer.memory().segmentBytes, 0)
  const again = owner.createArena('things')
  t.equal(reader.arena('things')?.ready(), false)
  again.setReady(true)
  t.equal(reader.arena('things')?.ready(), true)
  t.throws(() => owner.createArena('things'), /already/)
})
