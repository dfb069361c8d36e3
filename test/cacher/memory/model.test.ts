import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { Snapshot } from '#keelson/cacher/memory/shared-memory.js'
import { draft, text } from './draft.js'

/** A small generator with a seed: a failure can be run again. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 0x1_0000_0000
  }
}

function dump(snapshot: Snapshot): string[] {
  const found: string[] = []
  snapshot.scan('', '', (record) => void found.push(`${record.key} ${record.modRevision} ${text(record.body())}`))
  return found
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

t.test('the index agrees with a plain map through random puts, updates, deletes and relists', async (t) => {
  for (const seed of [1, 2, 3]) {
    const random = seeded(seed)
    const owner = new MemoryOwner()
    const writer = owner.createArena('things', { windowBytes: 1 << 20 })
    const arena = owner.localReader().arena('things')!
    writer.setReady(true)
    const model = new Map<string, string>()
    const spread = seed === 2 ? 40 : 1500
    const changes = 6000
    for (let revision = 1; revision <= changes; revision++) {
      const n = Math.floor(random() * spread)
      const key = `/registry/things/${['default', 'kube-system', 'ü', 'a'][n % 4]}/${'x'.repeat(n % 7)}${n}`
      // Grows in the first half, shrinks to nothing in the second.
      if (random() < (revision < changes / 2 ? 0.8 : 0.15)) {
        const filler = 'f'.repeat(Math.floor(random() ** 4 * 20_000))
        writer.put(key, draft(key, { filler }), revision, revision)
        model.set(
          key,
          `${key} ${revision} {"metadata":{"name":"${key}","resourceVersion":"${revision}"},"filler":"${filler}"}`,
        )
      } else {
        writer.delete(key, revision)
        model.delete(key)
      }
      writer.publish(revision)
      owner.clock.advance(revision)
      if (revision % 500 === 0) {
        const snapshot = arena.snapshot()
        const keys = [...model.keys()].sort(byBytes)
        t.strictSame(
          dump(snapshot),
          keys.map((key) => model.get(key)!),
          `seed ${seed} at ${revision}`,
        )
        t.equal(snapshot.size, keys.length)
        const [from, to] = [Math.floor(random() * keys.length), Math.floor(random() * keys.length)].sort(
          (a, b) => a - b,
        )
        t.equal(snapshot.count(keys[from!] ?? '', keys[to!] ?? ''), keys.length === 0 ? 0 : to! - from!)
        t.equal(
          snapshot.count('/registry/things/default/', '/registry/things/default0'),
          keys.filter((k) => k.includes('/default/')).length,
        )
        for (const key of keys.slice(from, from! + 50)) t.equal(snapshot.get(key)?.key, key)
        t.equal(snapshot.get(`${keys[0]}-not`), undefined)
        snapshot.release()
      }
    }
    writer.replace([], changes + 1)
    writer.publish(changes + 1)
    const memory = writer.memory()
    t.equal(memory.objects, 0)
    t.equal(memory.pinnedBytes + memory.windowBytes, 0)
    t.ok(memory.usedBytes < 200_000, `${memory.usedBytes} bytes used when empty`)
    t.ok(memory.segmentBytes < 5 * 1024 * 1024, `${memory.segmentBytes} bytes of segments when empty`)
    t.equal(memory.usedBytes + memory.freeBytes, memory.segmentBytes)
  }
})

t.test('a hundred thousand keys are built at once and found', async (t) => {
  const owner = new MemoryOwner()
  const writer = owner.createArena('things')
  const keys = Array.from({ length: 100_000 }, (_, i) => `/registry/things/ns-${i % 10}/name-${i}`).sort(byBytes)
  const small = draft('x')
  writer.replace(
    keys.map((key) => ({ key, draft: small, modRevision: 5, createRevision: 5 })),
    5,
  )
  writer.publish(5)
  owner.clock.advance(5)
  writer.setReady(true)
  const snapshot = owner.localReader().arena('things')!.snapshot()
  t.equal(snapshot.size, 100_000)
  const wrong = keys.filter((key) => snapshot.get(key)?.key !== key)
  t.same(wrong, [])
  t.equal(snapshot.count('/registry/things/ns-3/', '/registry/things/ns-30'), 10_000)
  const part: string[] = []
  snapshot.scan(keys[70_000]!, keys[70_300]!, (record) => void part.push(record.key))
  t.same(part, keys.slice(70_000, 70_300))
  snapshot.release()
})
