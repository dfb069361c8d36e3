import type { Test } from 'tap'
import { isStorageError, StorageError } from '#keelson/storage/contract/errors.js'
import type { KeyValue, KV, KvEvent, KvWatch } from '#keelson/storage/contract/kv.js'

export interface KvSuiteOptions {
  /** A KV over a store that nobody else uses; closed by the suite. */
  open(): Promise<KV>
  /** Whether requestProgress() leads to a batch; old etcd servers are not asked. Absent: it does. */
  progressTrusted?(): Promise<boolean>
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (value: Uint8Array): string => new TextDecoder().decode(value)

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return error instanceof StorageError ? error.code : `not a StorageError: ${String(error)}`
  }
  return 'no error'
}

/** Every event until one with `lastKey`, in the order of delivery; checks the order and completeness of batches. */
async function eventsUntil(t: Test, watch: KvWatch, lastKey: string): Promise<KvEvent[]> {
  const events: KvEvent[] = []
  let last = 0
  for (;;) {
    const batch = await watch.next()
    if (batch === undefined) throw new Error('the watch ended early')
    for (const event of batch.events) {
      if (event.kv.modRevision <= last) t.fail('events are in revision order, one each')
      last = event.kv.modRevision
      if (event.kv.modRevision > batch.revision) t.fail('a batch’s revision covers its events')
      events.push(event)
      if (event.kv.key === lastKey) return events
    }
  }
}

const shape = (event: KvEvent): string =>
  `${event.type} ${event.kv.key} ${text(event.kv.value)} <- ${event.prev === undefined ? '-' : text(event.prev.value)}`

/** What storage/contract/kv.ts says, sentence by sentence, on any implementation. */
export function kvSuite(t: Test, name: string, options: KvSuiteOptions): void {
  t.test(name, async (t) => {
    let kv: KV
    t.beforeEach(async () => {
      kv = await options.open()
    })
    t.afterEach(() => kv.close())

    const create = async (key: string, value: string): Promise<number> => {
      const result = await kv.optimisticPut(key, bytes(value), 0)
      if (!result.succeeded) throw new Error(`${key} exists`)
      return result.revision
    }

    t.test('a created key is read back with its metadata', async (t) => {
      const revision = await create('/r/a', 'one')
      const { kv: found, revision: at } = await kv.get('/r/a')
      t.equal(text(found!.value), 'one')
      t.match(found, { key: '/r/a', modRevision: revision, createRevision: revision, version: 1, lease: 0n })
      t.equal(at, revision)
    })

    t.test('a key that is not there reads as undefined, with the store’s revision', async (t) => {
      const revision = await create('/r/a', 'one')
      t.same(await kv.get('/r/missing'), { kv: undefined, revision })
    })

    t.test('the revision grows by one for every committed transaction and stays for a failed comparison', async (t) => {
      const before = await kv.currentRevision()
      t.equal(await create('/r/a', '1'), before + 1)
      t.equal(await create('/r/b', '1'), before + 2)
      const refused = await kv.optimisticPut('/r/a', bytes('x'), 0)
      t.match(refused, { succeeded: false, revision: before + 2, kv: undefined })
      t.equal(await kv.currentRevision(), before + 2)
    })

    t.test('an update needs the current mod revision, keeps the create revision and counts versions', async (t) => {
      const created = await create('/r/a', '1')
      const updated = await kv.optimisticPut('/r/a', bytes('2'), created)
      t.ok(updated.succeeded)
      const stale = await kv.optimisticPut('/r/a', bytes('3'), created)
      t.notOk(stale.succeeded)
      const { kv: found } = await kv.get('/r/a')
      t.match(found, { modRevision: updated.revision, createRevision: created, version: 2 })
      t.equal(text(found!.value), '2')
    })

    t.test('an update of a key that is not there fails', async (t) => {
      t.match(await kv.optimisticPut('/r/a', bytes('1'), 5, { getOnFailure: true }), {
        succeeded: false,
        kv: undefined,
      })
    })

    t.test('a failed comparison tells what is there when asked', async (t) => {
      const created = await create('/r/a', '1')
      const put = await kv.optimisticPut('/r/a', bytes('2'), 0, { getOnFailure: true })
      t.notOk(put.succeeded)
      t.equal(text(put.kv!.value), '1')
      t.equal(put.kv!.modRevision, created)
      const gone = await kv.optimisticDelete('/r/a', created + 7, { getOnFailure: true })
      t.notOk(gone.succeeded)
      t.equal(text(gone.kv!.value), '1')
    })

    t.test('a deletion gives what was deleted and its own revision', async (t) => {
      const created = await create('/r/a', '1')
      const deleted = await kv.optimisticDelete('/r/a', created)
      t.match(deleted, { succeeded: true, revision: created + 1 })
      t.equal(text(deleted.kv!.value), '1')
      t.equal(deleted.kv!.modRevision, created)
      t.equal((await kv.get('/r/a')).kv, undefined)
    })

    t.test('a key created again after its deletion starts over', async (t) => {
      const created = await create('/r/a', '1')
      const deleted = await kv.optimisticDelete('/r/a', created)
      const again = await create('/r/a', '2')
      t.equal(again, deleted.revision + 1)
      t.match((await kv.get('/r/a')).kv, { createRevision: again, modRevision: again, version: 1 })
    })

    t.test('many concurrent creations of one key let exactly one win', async (t) => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, i) => kv.optimisticPut('/r/a', bytes(String(i)), 0, { getOnFailure: true })),
      )
      t.equal(results.filter((r) => r.succeeded).length, 1)
      const winner = text((await kv.get('/r/a')).kv!.value)
      for (const r of results.filter((r) => !r.succeeded)) t.equal(text(r.kv!.value), winner)
    })

    t.test('many concurrent writes of different keys all get revisions of their own', async (t) => {
      const before = await kv.currentRevision()
      const results = await Promise.all(Array.from({ length: 50 }, (_, i) => create(`/r/k${i}`, 'x')))
      t.same(
        [...results].sort((a, b) => a - b),
        Array.from({ length: 50 }, (_, i) => before + 1 + i),
      )
    })

    t.test('empty and large values, and keys outside ASCII, survive', async (t) => {
      const large = new Uint8Array(300_000).map((_, i) => i % 251)
      await kv.optimisticPut('/r/empty', new Uint8Array(0), 0)
      await kv.optimisticPut('/r/large', large.slice(), 0)
      await kv.optimisticPut('/r/käse-🚀', bytes('ü'), 0)
      t.equal((await kv.get('/r/empty')).kv!.value.length, 0)
      t.ok(Buffer.from((await kv.get('/r/large')).kv!.value).equals(Buffer.from(large)))
      t.equal(text((await kv.get('/r/käse-🚀')).kv!.value), 'ü')
    })

    t.test('a list holds every key with the prefix and no other, in byte order', async (t) => {
      // U+FFFD sorts before U+1F680 by bytes and after it by UTF-16 units.
      for (const key of ['/r/b', '/r/a', '/r/🚀', '/r/\ufffd', '/r/a/x', '/rr/a', '/q/z', '/r0', '/r'])
        await create(key, key)
      const { kvs, count, more, revision } = await kv.list('/r/')
      t.same(
        kvs.map((k) => k.key),
        ['/r/a', '/r/a/x', '/r/b', '/r/\ufffd', '/r/🚀'],
      )
      t.same(
        kvs.map((k) => text(k.value)),
        kvs.map((k) => k.key),
      )
      t.equal(count, 5)
      t.notOk(more)
      t.equal(revision, await kv.currentRevision())
      t.equal(await kv.count('/r/'), 5)
      t.equal(await kv.count('/none/'), 0)
    })

    t.test('an empty list is empty', async (t) => {
      t.match(await kv.list('/none/'), { kvs: [], count: 0, more: false })
    })

    t.test('a limit cuts the list and the count says how much there is from the start key on', async (t) => {
      for (let i = 0; i < 10; i++) await create(`/r/${i}`, String(i))
      const first = await kv.list('/r/', { limit: 4 })
      t.equal(first.kvs.length, 4)
      t.equal(first.count, 10)
      t.ok(first.more)
      const second = await kv.list('/r/', { limit: 4, startKey: `${first.kvs[3]!.key}\0` })
      t.same(
        second.kvs.map((k) => k.key),
        ['/r/4', '/r/5', '/r/6', '/r/7'],
      )
      t.equal(second.count, 6)
      const last = await kv.list('/r/', { limit: 4, startKey: '/r/8' })
      t.equal(last.kvs.length, 2)
      t.notOk(last.more)
      t.notOk((await kv.list('/r/', { limit: 10 })).more)
      const whole = await kv.list('/r/')
      for (const limit of [0, 1, 4, whole.count - 1, whole.count, whole.count + 1]) {
        const { kvs, more } = await kv.list('/r/', { limit, uncounted: true })
        t.same(kvs, limit === 0 ? whole.kvs : whole.kvs.slice(0, limit), `${limit} keys, uncounted`)
        t.equal(more, limit > 0 && limit < whole.count)
      }
    })

    t.test('keysOnly leaves the values out and the metadata in', async (t) => {
      const revision = await create('/r/a', 'value')
      const { kvs } = await kv.list('/r/', { keysOnly: true })
      t.match(kvs, [{ key: '/r/a', modRevision: revision, createRevision: revision, version: 1 }])
      t.equal(kvs[0]!.value.length, 0)
    })

    t.test('a list at an older revision is the state of then', async (t) => {
      const states: { revision: number; state: string[] }[] = []
      const model = new Map<string, KeyValue>()
      let seed = 7
      const random = (n: number): number => {
        seed = (seed * 48271) % 2147483647
        return seed % n
      }
      for (let i = 0; i < 60; i++) {
        const key = `/r/${random(8)}`
        const current = model.get(key)
        const doDelete = current !== undefined && random(3) === 0
        const result = doDelete
          ? await kv.optimisticDelete(key, current.modRevision)
          : await kv.optimisticPut(key, bytes(`v${i}`), current?.modRevision ?? 0)
        t.ok(result.succeeded)
        if (doDelete) model.delete(key)
        else model.set(key, (await kv.get(key)).kv!)
        const state = [...model.values()].map((k) => `${k.key}=${text(k.value)}@${k.modRevision}/${k.createRevision}`)
        states.push({ revision: result.revision, state: state.sort() })
      }
      for (const { revision, state } of states) {
        const whole = await kv.list('/r/', { revision })
        t.same(
          whole.kvs.map((k) => `${k.key}=${text(k.value)}@${k.modRevision}/${k.createRevision}`),
          state,
        )
        t.equal(whole.count, state.length)
        t.equal(whole.revision, states.at(-1)!.revision)
        const page = await kv.list('/r/', { revision, limit: 2, startKey: '/r/3' })
        const rest = state.filter((s) => s >= '/r/3')
        t.equal(page.count, rest.length)
        t.equal(page.more, rest.length > 2)
        t.equal(page.kvs.length, Math.min(2, rest.length))
      }
    })

    t.test('a list at a revision that is not there yet is too large', async (t) => {
      const revision = await create('/r/a', '1')
      t.equal(await codeOf(kv.list('/r/', { revision: revision + 1000 })), 'too-large')
    })

    t.test('compaction makes older states and watches too old and leaves the present alone', async (t) => {
      const first = await create('/r/a', '1')
      const second = (await kv.optimisticPut('/r/a', bytes('2'), first)).revision
      await create('/r/b', 'b')
      const gone = await create('/r/c', 'c')
      const deleted = (await kv.optimisticDelete('/r/c', gone)).revision
      t.equal(kv.compactedRevision(), 0)
      await kv.compact(deleted)
      t.equal(kv.compactedRevision(), deleted)
      t.equal(await codeOf(kv.list('/r/', { revision: second })), 'too-old')
      t.same(
        (await kv.list('/r/', { revision: deleted })).kvs.map((k) => text(k.value)),
        ['2', 'b'],
      )
      t.same(
        (await kv.list('/r/')).kvs.map((k) => text(k.value)),
        ['2', 'b'],
      )
      const watch = kv.watch({ key: '/r/', prefix: true, startRevision: first })
      t.equal(await codeOf(watch.established.then(() => watch.next())), 'too-old')
      watch.close()
      await kv.compact(second)
      t.equal(kv.compactedRevision(), deleted, 'compacting what is compacted already changes nothing')
      t.equal(await codeOf(kv.compact(deleted + 1000)), 'too-large')
      try {
        await kv.list('/r/', { revision: second })
      } catch (error) {
        t.ok(
          isStorageError(error) && error.fields.compactRevision === deleted,
          'the error names the compacted revision',
        )
      }
      const again = await kv.optimisticPut('/r/c', bytes('c2'), 0)
      t.ok(again.succeeded)
      t.equal(text((await kv.get('/r/c')).kv!.value), 'c2')
    })

    t.test('a watch delivers every change after it was established, with what was there before', async (t) => {
      const watch = kv.watch({ key: '/r/', prefix: true, startRevision: 0 })
      await watch.established
      const a = await create('/r/a', '1')
      await create('/other/a', 'x')
      const b = (await kv.optimisticPut('/r/a', bytes('2'), a)).revision
      await kv.optimisticDelete('/r/a', b)
      const last = await create('/r/end', 'e')
      const events = await eventsUntil(t, watch, '/r/end')
      t.same(events.map(shape), ['put /r/a 1 <- -', 'put /r/a 2 <- 1', 'delete /r/a  <- 2', 'put /r/end e <- -'])
      t.equal(events[2]!.kv.modRevision, b + 1)
      t.match(events[1]!.kv, { createRevision: a, version: 2, modRevision: b })
      t.equal(events[3]!.kv.modRevision, last)
      watch.close()
    })

    t.test('a watch from an older revision replays history and goes on with what follows', async (t) => {
      const revisions: number[] = []
      for (let i = 0; i < 700; i++) revisions.push(await create(`/r/${i}`, String(i)))
      const watch = kv.watch({ key: '/r/', prefix: true, startRevision: revisions[10]! })
      const more = Array.from({ length: 20 }, (_, i) => create(`/r/more${i}`, 'm'))
      await Promise.all(more)
      await create('/r/end', 'e')
      const events = await eventsUntil(t, watch, '/r/end')
      t.equal(events[0]!.kv.modRevision, revisions[10])
      t.equal(events.length, 690 + 20 + 1)
      watch.close()
    })

    t.test('a watch of one key sees that key only', async (t) => {
      const watch = kv.watch({ key: '/r/a', prefix: false, startRevision: 0 })
      await watch.established
      await create('/r/aa', 'x')
      await create('/r/a', '1')
      const batch = await watch.next()
      t.same(batch!.events.map(shape), ['put /r/a 1 <- -'])
      watch.close()
    })

    t.test('a watch from a revision that is still to come starts there', async (t) => {
      const now = await kv.currentRevision()
      const watch = kv.watch({ key: '/r/', prefix: true, startRevision: now + 2 })
      await watch.established
      await create('/r/early', 'x')
      await create('/r/due', 'x')
      t.same((await watch.next())!.events.map(shape), ['put /r/due x <- -'])
      watch.close()
    })

    t.test('several watches each see every event once', async (t) => {
      const watches = Array.from({ length: 4 }, () => kv.watch({ key: '/r/', prefix: true, startRevision: 0 }))
      await Promise.all(watches.map((w) => w.established))
      await Promise.all(Array.from({ length: 100 }, (_, i) => create(`/r/${i}`, 'x')))
      await create('/r/end', 'e')
      for (const watch of watches) {
        t.equal((await eventsUntil(t, watch, '/r/end')).length, 101)
        watch.close()
      }
    })

    t.test('requested progress says that everything up to the revision has been delivered', async (t) => {
      const watch = kv.watch({ key: '/r/', prefix: true, startRevision: 0 })
      await watch.established
      const other = await create('/other/a', 'x')
      if ((await options.progressTrusted?.()) === false) {
        await kv.requestProgress()
        t.pass('a progress batch', { skip: 'this server reports progress too early' })
        watch.close()
        return
      }
      const next = watch.next()
      await kv.requestProgress()
      const batch = await next
      t.same(batch!.events, [])
      t.ok(batch!.revision >= other)
      watch.close()
    })

    t.test('close and an aborted signal end a watch', async (t) => {
      const closed = kv.watch({ key: '/r/', prefix: true, startRevision: 0 })
      await closed.established
      const pending = closed.next()
      closed.close()
      t.equal(await pending, undefined)
      t.equal(await closed.next(), undefined)
      const abort = new AbortController()
      const aborted = kv.watch({ key: '/r/', prefix: true, startRevision: 0, signal: abort.signal })
      await aborted.established
      const waiting = aborted.next()
      abort.abort()
      t.equal(await waiting, undefined)
    })

    t.test('a call whose signal is aborted already is unreachable and changes nothing', async (t) => {
      const signal = AbortSignal.abort()
      t.equal(await codeOf(kv.get('/r/a', { signal })), 'unreachable')
      t.equal(await codeOf(kv.optimisticPut('/r/a', bytes('1'), 0, { signal })), 'unreachable')
      t.equal((await kv.get('/r/a')).kv, undefined)
    })

    t.test('a write can carry a lease and the key shows it', async (t) => {
      const lease = await kv.grantLease(3600)
      t.not(lease, 0n)
      const put = await kv.optimisticPut('/r/a', bytes('1'), 0, { lease })
      t.equal((await kv.get('/r/a')).kv!.lease, lease)
      await kv.optimisticPut('/r/a', bytes('2'), put.revision)
      t.equal((await kv.get('/r/a')).kv!.lease, 0n, 'a write without a lease detaches the key')
      t.not(await kv.grantLease(3600), lease, 'leases are different')
    })

    t.test('an expired lease deletes its keys as ordinary events', async (t) => {
      const watch = kv.watch({ key: '/r/', prefix: true, startRevision: 0 })
      await watch.established
      const lease = await kv.grantLease(1)
      await kv.optimisticPut('/r/leased', bytes('1'), 0, { lease })
      // Timers of the product do not keep a process alive; while this test waits, something must.
      const alive = setInterval(() => undefined, 1000)
      t.teardown(() => clearInterval(alive))
      const events = [...(await eventsUntil(t, watch, '/r/leased')), ...(await eventsUntil(t, watch, '/r/leased'))]
      t.same(events.map(shape), ['put /r/leased 1 <- -', 'delete /r/leased  <- 1'])
      t.equal((await kv.get('/r/leased')).kv, undefined)
      watch.close()
    })

    t.test('a lease that does not exist is refused', async (t) => {
      const put = kv.optimisticPut('/r/a', bytes('1'), 0, { lease: 123456789n })
      t.not(await codeOf(put), 'no error')
      t.equal((await kv.get('/r/a')).kv, undefined)
    })

    t.test('the store reports its size', async (t) => {
      await create('/r/a', 'x')
      const sizes = await kv.databaseSizes()
      t.ok(sizes.length > 0)
      for (const { endpoint, bytes: size } of sizes) {
        t.ok(endpoint.length > 0)
        t.ok(size > 0)
      }
    })

    t.test('a closed KV refuses calls with a StorageError', async (t) => {
      const extra = await options.open()
      await extra.close()
      t.not(await codeOf(extra.get('/r/a')), 'no error')
      t.notMatch(await codeOf(extra.optimisticPut('/r/a', bytes('1'), 0)), /not a StorageError|no error/)
    })
  })
}
