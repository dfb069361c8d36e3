import { test } from 'tap'
import { LeaseManager } from '#keelson/storage/monitors/lease-manager.js'
import { FakeClock } from '../../support/fake-clock.js'

class FakeLeases {
  readonly granted: number[] = []
  hold: Promise<void> | undefined
  failure: Error | undefined

  async grantLease(ttlSeconds: number): Promise<bigint> {
    await this.hold
    if (this.failure !== undefined) throw this.failure
    this.granted.push(ttlSeconds)
    return BigInt(this.granted.length)
  }
}

const HOUR = 3600

test('objects whose time ends within the span share a lease that is granted a little longer', async (t) => {
  const clock = new FakeClock()
  const kv = new FakeLeases()
  const leases = new LeaseManager({ kv, clock })
  t.equal(await leases.getLease(HOUR), 1n)
  await clock.advance(30_000)
  t.equal(await leases.getLease(HOUR), 1n)
  await clock.advance(29_999)
  t.equal(await leases.getLease(HOUR), 1n)
  await clock.advance(1)
  t.equal(await leases.getLease(HOUR), 2n, 'the first one would end too early now')
  t.strictSame(kv.granted, [HOUR + 60, HOUR + 60])
})

test('the extra time is at most a twentieth of the time asked for', async (t) => {
  const clock = new FakeClock()
  const kv = new FakeLeases()
  const leases = new LeaseManager({ kv, clock })
  t.equal(await leases.getLease(100), 1n)
  await clock.advance(4_000)
  t.equal(await leases.getLease(100), 1n)
  await clock.advance(1_000)
  t.equal(await leases.getLease(100), 2n)
  t.equal(await leases.getLease(10), 3n, 'too short for any extra time')
  t.strictSame(kv.granted, [105, 105, 10])
})

test('an object is not put on a lease that would keep it for much too long', async (t) => {
  const kv = new FakeLeases()
  const leases = new LeaseManager({ kv, clock: new FakeClock() })
  t.equal(await leases.getLease(HOUR), 1n)
  t.equal(await leases.getLease(HOUR / 2), 2n)
  t.equal(await leases.getLease(HOUR), 3n, 'only the newest lease is reused')
})

test('a lease takes no more objects than its limit', async (t) => {
  const full: number[] = []
  const kv = new FakeLeases()
  const leases = new LeaseManager({ kv, clock: new FakeClock(), maxObjectCount: 3, onLeaseFull: (n) => full.push(n) })
  const ids = []
  for (let i = 0; i < 7; i++) ids.push(await leases.getLease(HOUR))
  t.strictSame(ids, [1n, 1n, 1n, 2n, 2n, 2n, 3n])
  t.strictSame(full, [3, 3])
})

test('requests at the same moment share one grant', async (t) => {
  let release: () => void = () => undefined
  const kv = new FakeLeases()
  kv.hold = new Promise((resolve) => {
    release = resolve
  })
  const leases = new LeaseManager({ kv, clock: new FakeClock(), maxObjectCount: 50 })
  const all = Promise.all(Array.from({ length: 100 }, () => leases.getLease(HOUR)))
  release()
  const ids = await all
  t.equal(kv.granted.length, 2)
  t.equal(ids.filter((id) => id === 1n).length, 50)
})

test('a failed grant fails its caller only', async (t) => {
  const kv = new FakeLeases()
  const leases = new LeaseManager({ kv, clock: new FakeClock() })
  kv.failure = new Error('away')
  await t.rejects(leases.getLease(HOUR), { message: 'away' })
  kv.failure = undefined
  t.equal(await leases.getLease(HOUR), 1n)
})
