import { test } from 'tap'
import { systemClock } from '#keelson/lib/clock.js'
import { StorageError } from '#keelson/storage/contract/errors.js'
import type { KvGetResult } from '#keelson/storage/contract/kv.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { HealthCheck } from '#keelson/storage/monitors/health-check.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'
import { FakeClock } from '../../support/fake-clock.js'
import { until } from '../../support/until.js'

const ANSWER: KvGetResult = { kv: undefined, revision: 1 }

test('many probes are one question, and its answer holds for a moment', async (t) => {
  const clock = new FakeClock()
  const asked: string[] = []
  const kv = {
    get: (key: string) => {
      asked.push(key)
      return Promise.resolve(ANSWER)
    },
  }
  const check = new HealthCheck({ kv, clock, prefix: '/registry', lifetimeMs: 1000 })
  const all = await Promise.all([check.check(), check.check(), check.check()])
  t.strictSame(all, [{ healthy: true }, { healthy: true }, { healthy: true }])
  t.strictSame(asked, ['/registry/health'])
  await clock.advance(999)
  await check.check()
  t.equal(asked.length, 1)
  await clock.advance(1)
  await check.check()
  t.equal(asked.length, 2)
  t.equal(clock.pendingTimers, 0, 'no deadline is left behind')
})

test('a failure is told by its error, and recovery is seen', async (t) => {
  const clock = new FakeClock()
  let error: Error | undefined = new StorageError('unreachable', 'no server answers')
  const kv = { get: () => (error === undefined ? Promise.resolve(ANSWER) : Promise.reject(error)) }
  const check = new HealthCheck({ kv, clock, prefix: '/registry' })
  t.match(await check.check(), { healthy: false, error: { message: 'no server answers' } })
  error = undefined
  await clock.advance(1000)
  t.match(await check.check(), { healthy: true })
})

test('a store that is silent is unhealthy after the timeout', async (t) => {
  const clock = new FakeClock()
  let signal: AbortSignal | undefined
  const kv = {
    get: (_key: string, options?: { signal?: AbortSignal }) => {
      signal = options?.signal
      return new Promise<KvGetResult>(() => undefined)
    },
  }
  const check = new HealthCheck({ kv, clock, prefix: '/registry' })
  const health = check.check()
  await clock.advance(2000)
  t.match(await health, { healthy: false, error: { message: /2000 ms/ } })
  t.ok(signal?.aborted, 'and the question is withdrawn')
})

test('a real etcd that stops answering is noticed, and its return too', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const kv = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => kv.close())
  await kv.get('/warm')
  const check = new HealthCheck({ kv, clock: systemClock, prefix: '/registry', timeoutMs: 200, lifetimeMs: 0 })
  server.pause()
  // The signal takes effect a moment after it is sent.
  let health = await check.check()
  const sick = async (): Promise<boolean> => {
    health = await check.check()
    return !health.healthy
  }
  await until(sick, { what: 'the check to fail' })
  t.match(health, { healthy: false, error: Error })
  server.resume()
  await until(async () => !(await sick()), { what: 'the check to succeed again' })
  t.match(health, { healthy: true })
})
