import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { isStorageError } from '#keelson/storage/contract/errors.js'
import type { KvEvent, KvWatch } from '#keelson/storage/contract/kv.js'
import { EmbeddedEngine, type EmbeddedEngineOptions } from '#keelson/storage/embedded/embedded-engine.js'
import { FakeClock } from '../../support/fake-clock.js'
import { smallVolume } from '../../support/small-volume.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { until } from '../../support/until.js'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (value: Uint8Array): string => new TextDecoder().decode(value)

async function open(t: Test, options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const engine = await EmbeddedEngine.open(options)
  t.teardown(() => engine.close())
  return engine
}

async function take(watch: KvWatch, count: number): Promise<KvEvent[]> {
  const events: KvEvent[] = []
  while (events.length < count) {
    const batch = await watch.next()
    if (batch === undefined) throw new Error('the watch ended early')
    events.push(...batch.events)
  }
  return events
}

t.test('everything survives a restart: state, revisions, history, and where watches may start', async (t) => {
  const dataDir = temporaryFolder(t, 'restart')
  const first = await EmbeddedEngine.open({ dataDir })
  const a = (await first.optimisticPut('/r/a', bytes('1'), 0)).revision
  const b = (await first.optimisticPut('/r/a', bytes('2'), a)).revision
  const c = (await first.optimisticDelete('/r/a', b)).revision
  await first.optimisticPut('/r/b', bytes('b'), 0)
  await first.close()
  const second = await open(t, { dataDir })
  t.equal(await second.currentRevision(), c + 1)
  t.equal(text((await second.list('/r/', { revision: b })).kvs[0]!.value), '2')
  const watch = second.watch({ key: '/r/', prefix: true, startRevision: a })
  const events = await take(watch, 4)
  t.same(
    events.map((e) => `${e.type} ${e.kv.key} ${text(e.kv.value)} ${e.prev && text(e.prev.value)}`),
    ['put /r/a 1 undefined', 'put /r/a 2 1', 'delete /r/a  2', 'put /r/b b undefined'],
  )
  t.equal((await second.optimisticPut('/r/c', bytes('c'), 0)).revision, c + 2)
})

t.test('the draft given with a write comes with its event in the same process', async (t) => {
  const engine = await open(t, {})
  const draft = { uid: 'u', labels: [], fields: [], body: bytes('{}'), revisionOffset: 0 }
  const watch = engine.watch({ key: '/r/', prefix: true, startRevision: 0 })
  await engine.optimisticPut('/r/a', bytes('1'), 0, { draft })
  await engine.optimisticPut('/r/b', bytes('1'), 0)
  const [a, b] = await take(watch, 2)
  t.equal(a!.draft, draft)
  t.notOk('draft' in b!)
})

t.test('a watch that has fallen behind what is in memory reads the log, and misses nothing', async (t) => {
  const engine = await open(t, {})
  const watch = engine.watch({ key: '/r/', prefix: true, startRevision: 0 })
  const slow = engine.watch({ key: '/r/4999', prefix: false, startRevision: 0 })
  await Promise.all(Array.from({ length: 5000 }, (_, i) => engine.optimisticPut(`/r/${i}`, bytes(String(i)), 0)))
  const events = await take(watch, 5000)
  t.same(
    events.map((e) => e.kv.modRevision),
    Array.from({ length: 5000 }, (_, i) => i + 2),
  )
  t.equal((await take(slow, 1))[0]!.kv.key, '/r/4999')
})

t.test(
  'while one commit follows the other, each write is told once, in the order of revisions, and its bytes are its own',
  async (t) => {
    const engine = await open(t, { dataDir: temporaryFolder(t, 'commits') })
    const told: number[] = []
    const write = async (lane: number): Promise<void> => {
      for (let i = 0; i < 50; i++) {
        const { revision } = await engine.optimisticPut(`/r/${lane}-${i}`, bytes(`${lane}-${i}`.padEnd(3000, '.')), 0)
        told.push(revision)
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, lane) => write(lane)))
    t.same(
      told,
      [...told].sort((a, b) => a - b),
    )
    t.equal(new Set(told).size, 16 * 50)
    const { kvs } = await engine.list('/r/')
    t.equal(kvs.length, 16 * 50)
    for (const { key, value } of kvs)
      if (text(value) !== key.slice(3).padEnd(3000, '.')) t.fail(`${key} has other bytes`)
  },
)

t.test('a quiet watch reports progress at its interval when asked to', async (t) => {
  const clock = new FakeClock()
  const engine = await open(t, { clock, progressIntervalMs: 1000 })
  const watch = engine.watch({ key: '/r/', prefix: true, startRevision: 0, progressNotify: true })
  const { revision } = await engine.optimisticPut('/other/a', bytes('1'), 0)
  const next = watch.next()
  await clock.advance(1000)
  t.same(await next, { events: [], revision })
})

t.test('a lease ends when its time has come and takes its keys, each at a revision of its own', async (t) => {
  const clock = new FakeClock()
  const engine = await open(t, { clock })
  const watch = engine.watch({ key: '/r/', prefix: true, startRevision: 0 })
  const lease = await engine.grantLease(10)
  const other = await engine.grantLease(100)
  for (const key of ['/r/a', '/r/b']) await engine.optimisticPut(key, bytes(key), 0, { lease })
  await engine.optimisticPut('/r/c', bytes('c'), 0, { lease: other })
  const moved = await engine.optimisticPut('/r/moved', bytes('m'), 0, { lease })
  await engine.optimisticPut('/r/moved', bytes('m2'), moved.revision, { lease: other })
  await clock.advance(9_999)
  t.equal(await engine.count('/r/'), 4)
  await clock.advance(1)
  const events = (await take(watch, 7)).slice(5)
  t.same(
    events.map((e) => `${e.type} ${e.kv.key} ${e.kv.modRevision}`),
    [`delete /r/a ${moved.revision + 2}`, `delete /r/b ${moved.revision + 3}`],
  )
  t.same(
    (await engine.list('/r/')).kvs.map((k) => k.key),
    ['/r/c', '/r/moved'],
  )
  t.ok(
    await engine.optimisticPut('/r/x', bytes('x'), 0, { lease }).catch((e) => isStorageError(e, 'invalid-request')),
    'an ended lease is refused',
  )
})

t.test('a lease with more keys than one commit removes loses all of them', async (t) => {
  const clock = new FakeClock()
  const engine = await open(t, { clock })
  const lease = await engine.grantLease(10)
  await Promise.all(Array.from({ length: 700 }, (_, i) => engine.optimisticPut(`/r/${i}`, bytes('x'), 0, { lease })))
  await clock.advance(10_000)
  await until(async () => (await engine.count('/r/')) === 0, { what: 'every key of the lease to go' })
  t.equal(await engine.currentRevision(), 1 + 1400)
})

t.test('leases go on over a restart, and end at once when their time came while nothing ran', async (t) => {
  const dataDir = temporaryFolder(t, 'lease')
  const clock = new FakeClock()
  const first = await EmbeddedEngine.open({ dataDir, clock })
  const short = await first.grantLease(10)
  const long = await first.grantLease(60)
  await first.optimisticPut('/r/short', bytes('s'), 0, { lease: short })
  await first.optimisticPut('/r/long', bytes('l'), 0, { lease: long })
  await first.close()
  const later = new FakeClock(clock.now() + 30_000)
  const second = await open(t, { dataDir, clock: later })
  t.ok((await second.get('/r/short')).kv, 'the end of a lease is a write like any other, after the start')
  await later.advance(0)
  await until(async () => (await second.get('/r/short')).kv === undefined, { what: 'the key of the short lease to go' })
  t.ok((await second.get('/r/long')).kv)
  await later.advance(30_000)
  await until(async () => (await second.get('/r/long')).kv === undefined, { what: 'the key of the long lease to go' })
  t.not(await second.grantLease(5), short, 'numbers of ended leases are not used again')
})

t.test('compaction shrinks the log to the live keys, also when it is interrupted by a restart', async (t) => {
  const dataDir = temporaryFolder(t, 'compact')
  const first = await EmbeddedEngine.open({ dataDir })
  const mods = new Map<string, number>()
  for (let i = 0; i < 40; i++)
    await Promise.all(
      Array.from({ length: 50 }, async (_, k) => {
        const key = `/r/${k}`
        const { revision } = await first.optimisticPut(key, bytes(`${i}`.padEnd(2000)), mods.get(key) ?? 0)
        mods.set(key, revision)
      }),
    )
  for (let k = 0; k < 25; k++) await first.optimisticDelete(`/r/${k}`, mods.get(`/r/${k}`)!)
  const compacted = (await first.currentRevision()) - 10
  await first.compact(compacted)
  await first.close()
  const second = await open(t, { dataDir })
  t.equal(second.compactedRevision(), compacted)
  await until(async () => (await second.storageStats()).prunedRevision === compacted, {
    what: 'the history to be pruned',
  })
  const { logEntries } = await second.storageStats()
  t.equal(logEntries, 25 + 10 + 10, 'live keys, the deletions since, and what those deleted')
  t.same(
    (await second.list('/r/')).kvs.map((k) => text(k.value).trim()),
    Array.from({ length: 25 }, () => '39'),
  )
  t.equal((await second.list('/r/', { revision: compacted })).count, 35, 'the compacted revision itself can be read')
  const watch = second.watch({ key: '/r/', prefix: true, startRevision: compacted + 1 })
  const events = await take(watch, 10)
  t.ok(events.every((e) => e.type === 'delete' && text(e.prev!.value).trim() === '39'))
})

t.test('a watch that compaction overtakes ends with too-old', async (t) => {
  const engine = await open(t, {})
  const watch = engine.watch({ key: '/r/', prefix: true, startRevision: 0 })
  for (let i = 0; i < 10; i++) await engine.optimisticPut(`/r/${i}`, bytes('x'), 0)
  await engine.compact(8)
  const error: unknown = await watch.next().catch((e: unknown) => e)
  t.ok(isStorageError(error, 'too-old') && error.fields.compactRevision === 8)
  t.equal(await watch.next(), undefined)
})

t.test('free space is used again: steady writing with compaction does not grow the file', async (t) => {
  const engine = await open(t, {})
  let mod = 0
  const round = async (): Promise<void> => {
    for (let i = 0; i < 200; i++) mod = (await engine.optimisticPut('/r/a', new Uint8Array(8000), mod)).revision
    await engine.compact(mod)
    await until(async () => (await engine.storageStats()).prunedRevision === mod, { what: 'the history to be pruned' })
  }
  for (let i = 0; i < 3; i++) await round()
  const settled = (await engine.databaseSizes())[0]!.bytes
  for (let i = 0; i < 5; i++) await round()
  t.ok((await engine.databaseSizes())[0]!.bytes <= settled * 1.5)
})

t.test('keys and values outside the limits are refused', async (t) => {
  const engine = await open(t, {})
  const codeOf = (p: Promise<unknown>): Promise<unknown> => p.catch((e) => e.code)
  t.equal(await codeOf(engine.optimisticPut(`/${'k'.repeat(2000)}`, bytes('1'), 0)), 'invalid-request')
  t.equal(await codeOf(engine.optimisticPut('', bytes('1'), 0)), 'invalid-request')
  t.equal(await codeOf(engine.optimisticPut('/r/a', new Uint8Array(5 * 2 ** 20), 0)), 'value-too-large')
  t.equal((await engine.get(`/${'k'.repeat(2000)}`)).kv, undefined)
  t.equal(await engine.currentRevision(), 1)
})

t.test('close writes what was enqueued before it', async (t) => {
  const dataDir = temporaryFolder(t, 'close')
  const engine = await EmbeddedEngine.open({ dataDir })
  const writes = Array.from({ length: 2000 }, (_, i) => engine.optimisticPut(`/r/${i}`, bytes('x'), 0))
  const closed = engine.close()
  t.ok((await Promise.all(writes)).every((w) => w.succeeded))
  await closed
  t.equal(await (await open(t, { dataDir })).count('/r/'), 2000)
})

t.test(
  'a full disk refuses writes with no-space, loses nothing, and the engine goes on when there is room',
  async (t) => {
    const volume = smallVolume(t, 4)
    if (volume === undefined) {
      t.pass('a full disk', { skip: 'no small file system can be mounted here' })
      return
    }
    const dataDir = path.join(volume, 'data')
    const ballast = path.join(volume, 'ballast')
    execFileSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M', 'count=1'], { stdio: 'ignore' })
    const engine = await EmbeddedEngine.open({ dataDir })
    const acknowledged = new Map<string, number>()
    const refusals: unknown[] = []
    for (let i = 0; refusals.length === 0; i++)
      await Promise.all(
        Array.from({ length: 8 }, async (_, k) => {
          try {
            const { revision } = await engine.optimisticPut(`/r/${i}-${k}`, new Uint8Array(8000).fill(k), 0)
            acknowledged.set(`/r/${i}-${k}`, revision)
          } catch (error) {
            refusals.push(error)
          }
        }),
      )
    for (const error of refusals) t.ok(isStorageError(error, 'no-space'))
    const check = async (engine: EmbeddedEngine): Promise<void> => {
      const { kvs } = await engine.list('/r/')
      t.same(new Map(kvs.map((k) => [k.key, k.modRevision])), acknowledged)
      t.ok(kvs.every((k) => k.value.every((b) => b === Number(k.key.split('-')[1]))))
    }
    t.match(engine.writeProblem(), { error: { code: 'no-space' }, isFinal: false }, 'readiness is told')
    await check(engine)
    t.equal(await engine.currentRevision(), Math.max(...acknowledged.values()))
    rmSync(ballast)
    const after = await engine.optimisticPut('/r/after-9', new Uint8Array(8000).fill(9), 0)
    t.equal(after.revision, Math.max(...acknowledged.values()) + 1, 'refused writes took no revision')
    t.equal(engine.writeProblem(), undefined, 'a write that succeeds ends it')
    acknowledged.set('/r/after-9', after.revision)
    await check(engine)
    await engine.close()
    const again = await EmbeddedEngine.open({ dataDir })
    await check(again)
    await again.close()
  },
)

t.test('writes that are refused without the disk leave others their turn', async (t) => {
  const engine = await open(t, { dataDir: temporaryFolder(t, 'turns') })
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  const refused = Array.from({ length: 20 * 512 }, () => engine.optimisticPut('/t/a', bytes('1'), 99))
  setImmediate(count)
  for (const { succeeded } of await Promise.all(refused)) if (succeeded) t.fail('it must not succeed')
  isOver = true
  t.ok(turns >= 10, `${turns} turns`)
})
