import t from 'tap'
import type { StoreMetrics } from '#keelson/metrics/store-metrics.js'
import { MeteredKV } from '#keelson/storage/store/metered-kv.js'
import { FakeClock } from '../../support/fake-clock.js'
import { FaultyKV } from '../../support/faulty-kv.js'
import { MemoryKV } from '../../support/memory-kv.js'

function open() {
  const clock = new FakeClock()
  const inner = new FaultyKV(new MemoryKV(clock))
  const log: unknown[] = []
  const metrics: Pick<StoreMetrics, 'called' | 'failed'> = {
    called: (operation, durationMs) => void log.push([operation, durationMs]),
    failed: (operation) => void log.push(`${operation} failed`),
  }
  return { clock, inner, log, kv: new MeteredKV(inner, metrics as StoreMetrics, clock) }
}

t.test('each call is counted by what it does', async (t) => {
  const { kv, log } = open()
  const { revision } = await kv.optimisticPut('/a', Buffer.from('1'), 0)
  await kv.optimisticPut('/a', Buffer.from('2'), revision)
  await kv.get('/a')
  await kv.list('/')
  await kv.list('/', { keysOnly: true })
  await kv.count('/')
  await kv.optimisticDelete('/a', revision + 1)
  t.same(
    log.map((row) => (row as [string])[0]),
    ['create', 'update', 'get', 'list', 'listOnlyKeys', 'listOnlyKeys', 'delete'],
  )
})

t.test('a call takes as long as it takes, and a failed one is counted as both', async (t) => {
  const { kv, inner, clock, log } = open()
  inner.interfere = async () => {
    await Promise.resolve()
    await clock.advance(250)
  }
  await kv.get('/a')
  t.same(log.splice(0), [['get', 250]])
  inner.failNext({ call: 'get', when: 'before' })
  await t.rejects(kv.get('/a'), { code: 'unreachable' })
  t.same(log, ['get failed', ['get', 250]])
})

t.test('what is refused by its comparison has not failed', async (t) => {
  const { kv, log } = open()
  t.equal((await kv.optimisticPut('/a', Buffer.from('1'), 99)).succeeded, false)
  t.same(log, [['update', 0]])
})

t.test('what stores do not call goes through uncounted', async (t) => {
  const { kv, inner, log } = open()
  await kv.optimisticPut('/a', Buffer.from('1'), 0)
  log.length = 0
  t.equal(await kv.currentRevision(), await inner.currentRevision())
  t.not(await kv.grantLease(5), 0n)
  await kv.compact(1)
  t.equal(kv.compactedRevision(), 1)
  kv.watch({ key: '/', prefix: true, startRevision: 1, progressNotify: false }).close()
  await kv.requestProgress()
  t.type(await kv.databaseSizes(), Array)
  await kv.close()
  t.same(log, [])
})
