import { Etcd3 } from 'etcd3'
import { test } from 'tap'
import type { KV, KvWatch, KvWatchBatch } from '#keelson/storage/contract/kv.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'

const bytes = (text: string): Uint8Array => Buffer.from(text)
const text = (value: Uint8Array | undefined): string => Buffer.from(value ?? []).toString()

async function put(kv: KV, key: string, value: string): Promise<number> {
  const { kv: current } = await kv.get(key)
  const result = await kv.optimisticPut(key, bytes(value), current?.modRevision ?? 0)
  if (!result.succeeded) throw new Error(`${key} changed meanwhile`)
  return result.revision
}

async function pull(watch: KvWatch): Promise<KvWatchBatch> {
  const batch = await watch.next()
  if (batch === undefined) throw new Error('the watch is over')
  return batch
}

test('the key-value contract on a real etcd', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const kv = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => kv.close())

  t.test('a put succeeds only on the expected revision, and a failed one reads what is there', async (t) => {
    const created = await kv.optimisticPut('/a/1', bytes('one'), 0)
    t.match(created, { succeeded: true, kv: undefined })
    const again = await kv.optimisticPut('/a/1', bytes('two'), 0, { getOnFailure: true })
    t.equal(again.succeeded, false)
    t.equal(again.revision, created.revision)
    t.equal(text(again.kv?.value), 'one')
    const blind = await kv.optimisticPut('/a/1', bytes('two'), 0)
    t.match(blind, { succeeded: false, kv: undefined })
    const updated = await kv.optimisticPut('/a/1', bytes('two'), created.revision)
    t.match(updated, { succeeded: true, revision: created.revision + 1 })
    const read = await kv.get('/a/1')
    t.match(read, {
      revision: updated.revision,
      kv: { key: '/a/1', modRevision: updated.revision, createRevision: created.revision, version: 2, lease: 0n },
    })
    t.equal(text(read.kv?.value), 'two')
  })

  t.test('a deletion gives what was deleted, or what is there instead', async (t) => {
    const revision = await put(kv, '/d/1', 'gone')
    const failed = await kv.optimisticDelete('/d/1', revision - 1, { getOnFailure: true })
    t.equal(failed.succeeded, false)
    t.equal(failed.kv?.modRevision, revision)
    const deleted = await kv.optimisticDelete('/d/1', revision)
    t.match(deleted, { succeeded: true, revision: revision + 1 })
    t.equal(text(deleted.kv?.value), 'gone')
    t.match(await kv.get('/d/1'), { kv: undefined, revision: revision + 1 })
    t.match(await kv.optimisticDelete('/d/1', revision, { getOnFailure: true }), { succeeded: false, kv: undefined })
  })

  t.test('empty values, and keys and values of any bytes, come back as they were', async (t) => {
    const value = Uint8Array.from({ length: 256 }, (_, i) => i)
    await kv.optimisticPut('/u/ключ-鍵', value, 0)
    await kv.optimisticPut('/u/empty', new Uint8Array(0), 0)
    t.strictSame(new Uint8Array((await kv.get('/u/ключ-鍵')).kv!.value), value)
    t.equal((await kv.get('/u/empty')).kv!.value.length, 0)
  })

  t.test('a list is ordered, honours limit, start key and revision, and counts the rest', async (t) => {
    for (const name of ['c', 'a', 'b', 'd']) await put(kv, `/l/${name}`, name)
    await put(kv, '/l0', 'outside')
    const all = await kv.list('/l/')
    t.strictSame(
      all.kvs.map((e) => e.key),
      ['/l/a', '/l/b', '/l/c', '/l/d'],
    )
    t.match(all, { count: 4, more: false, revision: await kv.currentRevision() })
    const page = await kv.list('/l/', { limit: 2, startKey: '/l/b' })
    t.strictSame(
      page.kvs.map((e) => e.key),
      ['/l/b', '/l/c'],
    )
    t.match(page, { count: 3, more: true })
    t.match(await kv.list('/l/', { limit: 4 }), { count: 4, more: false })
    await put(kv, '/l/e', 'e')
    const then = await kv.list('/l/', { revision: all.revision })
    t.equal(then.kvs.length, 4)
    t.equal(then.revision, all.revision + 1)
    t.equal(await kv.count('/l/'), 5)
    const keys = await kv.list('/l/', { keysOnly: true })
    t.equal(keys.kvs.length, 5)
    t.ok(keys.kvs.every((e) => e.value.length === 0))
  })

  t.test('a long list is put together from pages of one revision while others write', async (t) => {
    const value = bytes('x'.repeat(20_000))
    for (let i = 0; i < 700; i += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, j) => kv.optimisticPut(`/p/${String(i + j).padStart(4, '0')}`, value, 0)),
      )
    let stop = false
    const writer = (async () => {
      for (let i = 0; !stop; i++) {
        await kv.optimisticPut(`/p/0699-${i}`, value, 0)
        await put(kv, '/p/0000', `changed ${i}`)
      }
    })()
    const list = await kv.list('/p/')
    stop = true
    await writer
    t.equal(list.kvs.length, list.count)
    t.ok(list.kvs.every((e) => e.modRevision <= list.revision))
    const again = await kv.list('/p/', { revision: list.revision })
    t.strictSame(
      list.kvs.map((e) => `${e.key} ${e.modRevision}`),
      again.kvs.map((e) => `${e.key} ${e.modRevision}`),
    )
    t.equal((await kv.list('/p/', { limit: 600 })).kvs.length, 600)
  })

  t.test('single objects larger than a page are listed all the same', async (t) => {
    const large = new Uint8Array(1_400_000)
    for (let i = 0; i < 6; i++) await kv.optimisticPut(`/large/${i}`, large, 0)
    const list = await kv.list('/large/')
    t.equal(list.kvs.length, 6)
    t.ok(list.kvs.every((e) => e.value.length === large.length))
  })

  t.test('failures have the codes of the contract', async (t) => {
    const now = await kv.currentRevision()
    await t.rejects(kv.list('/l/', { revision: now + 1000 }), { code: 'too-large' })
    await t.rejects(kv.optimisticPut('/big', new Uint8Array(3_000_000), 0), { code: 'value-too-large' })
    await t.rejects(kv.optimisticPut('/lease', bytes('x'), 0, { lease: 12345n }), { code: 'invalid-request' })
    await t.rejects(kv.get('/a/1', { signal: AbortSignal.abort() }), { code: 'unreachable' })
    await kv.compact(now)
    await t.rejects(kv.list('/l/', { revision: now - 1 }), { code: 'too-old', fields: { compactRevision: now } })
    t.equal(kv.compactedRevision(), now)
    await t.resolves(kv.compact(now), 'compacting twice is no failure')
  })

  t.test('another client learns the compacted revision when it meets it', async (t) => {
    const other = new EtcdKV({ endpoints: [server.endpoint] })
    t.teardown(() => other.close())
    t.equal(other.compactedRevision(), 0)
    const compacted = kv.compactedRevision()
    await t.rejects(other.list('/l/', { revision: 2 }), { code: 'too-old', fields: { compactRevision: compacted } })
    t.equal(other.compactedRevision(), compacted)
  })

  t.test('a key with a lease is gone after its time', async (t) => {
    const lease = await kv.grantLease(1)
    t.type(lease, 'bigint')
    const { revision } = await kv.optimisticPut('/leased', bytes('x'), 0, { lease })
    t.equal((await kv.get('/leased')).kv?.lease, lease)
    const watch = kv.watch({ key: '/leased', prefix: false, startRevision: revision + 1 })
    const batch = await pull(watch)
    t.match(batch.events, [{ type: 'delete', prev: { lease } }])
    watch.close()
  })

  t.test('a watch delivers puts and deletions with what was there before', async (t) => {
    const start = (await kv.currentRevision()) + 1
    const watch = kv.watch({ key: '/w/', prefix: true, startRevision: start })
    t.teardown(() => watch.close())
    const first = await put(kv, '/w/a', '1')
    const second = await put(kv, '/w/a', '2')
    await put(kv, '/elsewhere', 'x')
    const deletion = await kv.optimisticDelete('/w/a', second)
    const events = []
    while (events.length < 3) events.push(...(await pull(watch)).events)
    t.match(events, [
      { type: 'put', prev: undefined, kv: { key: '/w/a', modRevision: first, version: 1 } },
      { type: 'put', prev: { modRevision: first }, kv: { modRevision: second, createRevision: first } },
      { type: 'delete', prev: { modRevision: second }, kv: { key: '/w/a', modRevision: deletion.revision } },
    ])
    t.equal(text(events[1]?.prev?.value), '1')
    t.equal(events[2]?.kv.value.length, 0)
  })

  t.test('a watch from 0 sees only what comes after it is established', async (t) => {
    await put(kv, '/z/a', 'before')
    const watch = kv.watch({ key: '/z/', prefix: true, startRevision: 0 })
    await watch.established
    const revision = await put(kv, '/z/a', 'after')
    t.match(await pull(watch), { revision, events: [{ kv: { modRevision: revision } }] })
    watch.close()
    t.equal(await watch.next(), undefined)
  })

  t.test('all events of one revision come in one batch', async (t) => {
    const etcd3 = new Etcd3({ hosts: server.endpoint })
    t.teardown(() => etcd3.close())
    const start = (await kv.currentRevision()) + 1
    const keys = Array.from({ length: 3 }, (_, i) => `/m/${i}`)
    await etcd3
      .if('/m/x', 'Version', '==', 0)
      .then(...keys.map((key) => etcd3.put(key).value('v')))
      .commit()
    const watch = kv.watch({ key: '/m/', prefix: true, startRevision: start })
    t.match(await pull(watch), { revision: start, events: keys.map((key) => ({ kv: { key, modRevision: start } })) })
    watch.close()
  })

  t.test('a watch from a compacted revision is refused with the revision that is left', async (t) => {
    const revision = await put(kv, '/c/a', 'x')
    await put(kv, '/c/a', 'y')
    await kv.compact(revision)
    const watch = kv.watch({ key: '/c/', prefix: true, startRevision: revision - 1 })
    await t.rejects(watch.next(), { code: 'too-old', fields: { compactRevision: revision } })
    t.equal(await watch.next(), undefined, 'and is over then')
  })

  t.test('aborting the signal closes the watch', async (t) => {
    const abort = new AbortController()
    const watch = kv.watch({ key: '/c/', prefix: true, startRevision: 0, signal: abort.signal })
    const next = watch.next()
    abort.abort()
    t.equal(await next, undefined)
  })

  t.test('progress is not trusted before 3.4.25, and is delivered where it is', async (t) => {
    const trusted = await kv.progressTrusted()
    const watch = kv.watch({ key: '/progress/', prefix: true, startRevision: 0 })
    await watch.established
    await put(kv, '/not-watched', 'x')
    await kv.requestProgress()
    const revision = await put(kv, '/progress/a', 'x')
    const batch = await pull(watch)
    if (trusted) t.match(batch, { events: [] })
    else t.match(batch, { revision, events: [{}] })
    watch.close()
  })

  t.test('sizes of the databases are known per endpoint', async (t) => {
    const sizes = await kv.databaseSizes()
    t.match(sizes, [{ endpoint: server.endpoint }])
    t.ok(sizes[0]!.bytes > 0)
  })

  t.test('a closed client says so', async (t) => {
    const other = new EtcdKV({ endpoints: [server.endpoint] })
    await other.get('/a/1')
    const watch = other.watch({ key: '/a/', prefix: true, startRevision: 0 })
    await other.close()
    t.equal(await watch.next(), undefined)
    await t.rejects(other.get('/a/1'), { code: 'unreachable' })
  })
})
