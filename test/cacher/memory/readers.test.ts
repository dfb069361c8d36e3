import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { ArenaWriter } from '#keelson/cacher/memory/shared-memory.js'
import type { MemoryReport } from '#keelson/protocol/main-owner.js'
import { ARENAS, checkedDraft, keyOf, type LoadShare, NAMES, type ReaderReport, stateHash } from './load.js'

/** One in fifty makes six changes: more than 100,000 together. */
const REVISIONS = 92_000
const READERS = 4
const WINDOW_BYTES = 6 * 1024 * 1024
/** Further ahead of the slowest reader than this the writer waits; the window holds more. */
const LEAD = 1_500

/** Writes at random and says what every state ought to be. */
class LoadWriter {
  readonly owner = new MemoryOwner()
  readonly arenas: ArenaWriter[]
  readonly events = ARENAS.map(() => 0)
  readonly #states = ARENAS.map(() => new Map<string, number>())
  readonly #hashes = ARENAS.map(() => 0)
  readonly #published: Int32Array
  readonly #revisions: number
  #changes = 0
  revision = 0

  constructor(share: LoadShare) {
    this.#published = new Int32Array(share.hashes)
    this.#revisions = share.revisions
    this.arenas = ARENAS.map((name) => this.owner.createArena(name, { windowBytes: WINDOW_BYTES }))
    for (const arena of this.arenas) arena.setReady(true)
  }

  /** One revision: mostly one change, sometimes several in several arenas. */
  next(): number {
    const revision = ++this.revision
    const changes = revision % 50 === 0 ? 6 : 1
    const touched = new Set<string>()
    for (let i = 0; i < changes; i++) {
      const arena = Math.floor(Math.random() * ARENAS.length)
      const key = keyOf(ARENAS[arena]!, Math.floor(Math.random() * NAMES))
      // A transaction changes a key once.
      if (touched.has(key)) continue
      touched.add(key)
      this.#change(arena, key, revision)
    }
    this.#commit(revision)
    return this.#changes
  }

  deleteAll(): void {
    const revision = ++this.revision
    for (const [arena, state] of this.#states.entries())
      for (const key of [...state.keys()]) this.#delete(arena, key, revision)
    this.#commit(revision)
  }

  #change(arena: number, key: string, revision: number): void {
    this.#changes++
    const before = this.#states[arena]!.get(key)
    if (before !== undefined && Math.random() < 0.3) {
      this.#delete(arena, key, revision)
      return
    }
    const size = Math.floor(Math.random() ** 3 * 4000) + (this.#changes % 5000 === 0 ? 500_000 : 0)
    this.arenas[arena]!.put(key, checkedDraft(key, size, this.#changes), revision, revision)
    this.#hashes[arena]! ^= stateHash(key, revision) ^ (before === undefined ? 0 : stateHash(key, before))
    this.#states[arena]!.set(key, revision)
    this.events[arena]!++
  }

  #delete(arena: number, key: string, revision: number): void {
    this.arenas[arena]!.delete(key, revision)
    this.#hashes[arena]! ^= stateHash(key, this.#states[arena]!.get(key)!)
    this.#states[arena]!.delete(key)
    this.events[arena]!++
  }

  #commit(revision: number): void {
    for (const [i, hash] of this.#hashes.entries()) this.#published[i * (this.#revisions + 1) + revision] = hash
    for (const arena of this.arenas) arena.publish(revision)
    this.owner.clock.advance(revision)
  }
}

async function waitForReaders(progress: Int32Array, readers: number[], revision: number): Promise<void> {
  for (const reader of readers)
    for (;;) {
      const now = Atomics.load(progress, reader)
      if (now >= revision) break
      // A pending waitAsync keeps no process alive; the workers do.
      const wait = Atomics.waitAsync(progress, reader, now)
      if (wait.async) await wait.value
    }
}

function total(arenas: ArenaWriter[], figure: keyof MemoryReport): number {
  return arenas.reduce((sum, arena) => sum + arena.memory()[figure], 0)
}

t.test('four threads read a consistent state at every moment of 100,000 changes', async (t) => {
  const share: LoadShare = {
    hashes: new SharedArrayBuffer((REVISIONS + 1) * ARENAS.length * 4),
    progress: new SharedArrayBuffer(64 * 4),
    revisions: REVISIONS,
  }
  const progress = new Int32Array(share.progress)
  const writer = new LoadWriter(share)
  const workers: Worker[] = []
  const readers: number[] = []
  const reports: Promise<ReaderReport>[] = []
  for (let i = 0; i < READERS; i++) {
    const handoff = writer.owner.connect()
    readers.push(handoff.reader)
    const worker = new Worker(new URL('./load-reader.js', import.meta.url), {
      workerData: { handoff, share },
      transferList: [handoff.port],
    })
    workers.push(worker)
    reports.push(once(worker, 'message').then(([report]) => report as ReaderReport))
  }
  t.teardown(() => Promise.all(workers.map((worker) => worker.terminate())))

  let changes = 0
  const level = { live: 0, window: 0, segments: 0 }
  while (writer.revision < REVISIONS - 1) {
    changes = writer.next()
    if (writer.revision % 100 !== 0) continue
    await waitForReaders(progress, readers, writer.revision - LEAD)
    for (const arena of writer.arenas) {
      const { usedBytes, pinnedBytes, windowBytes } = arena.memory()
      level.live = Math.max(level.live, usedBytes - pinnedBytes - windowBytes)
      level.window = Math.max(level.window, windowBytes)
    }
    level.segments = Math.max(level.segments, total(writer.arenas, 'segmentBytes'))
  }
  writer.deleteAll()
  t.equal(writer.revision, REVISIONS)
  for (const report of await Promise.all(reports)) {
    t.same(report.problems, [])
    t.same(report.events, writer.events, 'every event once')
    t.equal(report.pins, 0, 'every pin was released')
    t.ok(report.lists > 20 && report.gets > 1000 && report.exactLists > 5, JSON.stringify(report))
    t.comment(JSON.stringify({ ...report, problems: undefined }))
  }
  t.ok(changes >= 100_000, `${changes} changes`)
  t.comment(JSON.stringify(level))
  // What readers hold back depends on how slow they are; the rest does not. Large objects may be half a megabyte each.
  t.ok(level.live < 12 * 1024 * 1024, `${level.live} bytes for the newest state of an arena`)
  t.ok(level.window <= WINDOW_BYTES, `${level.window} bytes for the window of an arena`)
  t.equal(total(writer.arenas, 'objects'), 0)

  for (const arena of writer.arenas) {
    arena.replace([], writer.revision)
    arena.publish(writer.revision)
  }
  t.equal(total(writer.arenas, 'pinnedBytes') + total(writer.arenas, 'windowBytes'), 0)
  const left = total(writer.arenas, 'segmentBytes')
  t.ok(left < 14 * 1024 * 1024, `${left} bytes of segments left of ${level.segments}`)
  t.ok(total(writer.arenas, 'usedBytes') < 3 * 1024 * 1024, `${total(writer.arenas, 'usedBytes')} bytes still used`)
  writer.owner.close()
})
