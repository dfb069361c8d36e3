import { test } from 'tap'
import { nullLogger } from '#keelson/lib/logger.js'
import { DbSizeMonitor } from '#keelson/storage/monitors/db-size-monitor.js'
import { FakeClock } from '../../support/fake-clock.js'

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('sizes are recorded at the start and every interval, until it is stopped', async (t) => {
  const clock = new FakeClock()
  const recorded: string[] = []
  let bytes = 0
  const kv = {
    databaseSizes: () =>
      Promise.resolve([
        { endpoint: 'a', bytes: ++bytes },
        { endpoint: 'b', bytes: 7 },
      ]),
  }
  const monitor = new DbSizeMonitor({ kv, clock, record: (endpoint, size) => recorded.push(`${endpoint} ${size}`) })
  monitor.start()
  monitor.start()
  await settled()
  t.strictSame(recorded, ['a 1', 'b 7'])
  await clock.advance(29_999)
  t.equal(recorded.length, 2)
  await clock.advance(1)
  await settled()
  t.strictSame(recorded.slice(2), ['a 2', 'b 7'])
  await monitor.stop()
  await clock.advance(60_000)
  t.equal(recorded.length, 4)
  t.equal(clock.pendingTimers, 0)
})

test('a store that does not answer is asked again, with a warning', async (t) => {
  const clock = new FakeClock()
  const warnings: string[] = []
  const recorded: number[] = []
  let away = true
  const kv = {
    databaseSizes: () => (away ? Promise.reject(new Error('away')) : Promise.resolve([{ endpoint: 'a', bytes: 1 }])),
  }
  const logger = { ...nullLogger, warn: (_fields: object, message: string) => warnings.push(message) }
  const monitor = new DbSizeMonitor({ kv, clock, logger, intervalMs: 1000, record: (_, size) => recorded.push(size) })
  t.teardown(() => monitor.stop())
  monitor.start()
  await settled()
  t.equal(warnings.length, 1)
  away = false
  await clock.advance(1000)
  await settled()
  t.strictSame(recorded, [1])
})

test('an interval of 0 turns it off', async (t) => {
  const clock = new FakeClock()
  const monitor = new DbSizeMonitor({
    kv: { databaseSizes: () => t.fail('it asked') as never },
    clock,
    intervalMs: 0,
    record: () => undefined,
  })
  monitor.start()
  t.equal(clock.pendingTimers, 0)
  await monitor.stop()
})
