import { type Test, test } from 'tap'
import type { Timer } from '#keelson/lib/clock.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { COMPACT_REV_KEY, Compactor } from '#keelson/storage/monitors/compactor.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'
import { FakeClock } from '../../support/fake-clock.js'
import { until } from '../../support/until.js'

const INTERVAL_MS = 300_000

/** Counts turns that wait: the compactor's other timer, of a watch that is opened again, is another one. */
class TurnClock extends FakeClock {
  waitingTurns = 0

  override after(delayMs: number, callback: () => void): Timer {
    if (delayMs === INTERVAL_MS) this.waitingTurns++
    return super.after(delayMs, callback)
  }
}

/** A compactor with a client and a clock of its own, as another process would have. */
class Process {
  readonly clock = new TurnClock()
  readonly kv: EtcdKV
  readonly compactor: Compactor
  /** What this process asked the store to compact. */
  readonly compactions: number[] = []

  constructor(t: Test, endpoint: string, intervalMs = INTERVAL_MS) {
    this.kv = new EtcdKV({ endpoints: [endpoint] })
    const compact = this.kv.compact.bind(this.kv)
    this.kv.compact = async (revision, options) => {
      await compact(revision, options)
      this.compactions.push(revision)
    }
    this.compactor = new Compactor({ kv: this.kv, clock: this.clock, intervalMs })
    t.teardown(async () => {
      await this.compactor.stop()
      await this.kv.close()
    })
    this.compactor.start()
  }

  /** One turn from beginning to end: it is over when the next one is scheduled. */
  async interval(): Promise<void> {
    const before = this.clock.waitingTurns
    await this.clock.advance(INTERVAL_MS)
    await until(() => this.clock.waitingTurns > before, { what: 'the compactor to wait for its next turn' })
  }

  async write(): Promise<number> {
    const { revision } = await this.kv.optimisticPut(`/x/${Math.random()}`, new Uint8Array(1), 0)
    return revision
  }

  async key(): Promise<{ value: string; version: number }> {
    const { kv } = await this.kv.get(COMPACT_REV_KEY)
    return { value: Buffer.from(kv!.value).toString(), version: kv!.version }
  }
}

test('history is kept for one interval and compacted after it', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const process = new Process(t, server.endpoint)
  const old = await process.write()
  await process.interval()
  t.strictSame(process.compactions, [], 'the first turn only takes its place')
  t.strictSame(await process.key(), { value: '0', version: 1 })
  const atFirstTurn = await process.kv.currentRevision()
  await process.write()
  await process.interval()
  t.strictSame(process.compactions, [atFirstTurn])
  t.strictSame(await process.key(), { value: String(atFirstTurn), version: 2 }, 'as Kubernetes writes it')
  t.equal(process.compactor.compactRevision(), atFirstTurn)
  await t.rejects(process.kv.list('/x/', { revision: old }), { code: 'too-old' })
  await t.resolves(process.kv.list('/x/', { revision: atFirstTurn }))
})

test('of two processes on one etcd only one compacts in each interval', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const a = new Process(t, server.endpoint)
  const b = new Process(t, server.endpoint)
  for (let round = 1; round <= 4; round++) {
    await a.write()
    await a.interval()
    await b.interval()
    t.equal((await a.key()).version, round, 'one turn was taken')
  }
  t.equal(a.compactions.length, 3)
  t.equal(b.compactions.length, 0)
  const newest = a.compactions.at(-1)!
  await until(() => b.compactor.compactRevision() === newest, { what: 'the other compactor to learn the revision' })
  t.pass('the other one learns of it without compacting')

  await a.compactor.stop()
  await b.write()
  await b.interval()
  t.equal(b.compactions.length, 1, 'and takes over when the first is gone')
  t.ok(b.compactions[0]! > newest)
})

test('an interval of 0 compacts nothing and still learns', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const off = new Process(t, server.endpoint, 0)
  await off.clock.advance(10 * INTERVAL_MS)
  t.equal((await off.kv.get(COMPACT_REV_KEY)).kv, undefined)
  await off.kv.optimisticPut(COMPACT_REV_KEY, Buffer.from('1234'), 0)
  await until(() => off.compactor.compactRevision() === 1234, { what: 'the compactor to learn the revision' })
  t.equal(off.compactions.length, 0)
})

test('a compactor goes on after the store was away', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const failing = new Process(t, server.endpoint)
  const put = failing.kv.optimisticPut
  failing.kv.optimisticPut = () => Promise.reject(new Error('away'))
  await failing.interval()
  failing.kv.optimisticPut = put
  await failing.interval()
  t.strictSame(await failing.key(), { value: '0', version: 1 })
  await failing.interval()
  t.equal(failing.compactions.length, 1)
})
