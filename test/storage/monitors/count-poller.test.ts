import t from 'tap'
import type { GroupResource } from '#keelson/api/group-version.js'
import { nullLogger } from '#keelson/lib/logger.js'
import type { StorageStats } from '#keelson/storage/contract/interface.js'
import { CountPoller, type ObjectCounts } from '#keelson/storage/monitors/count-poller.js'
import { FakeClock } from '../../support/fake-clock.js'

const PODS: GroupResource = { group: '', resource: 'pods' }
const MINUTE_MS = 60_000

function rig(stats: () => Promise<StorageStats>, { periodMs = MINUTE_MS, random = 0 } = {}) {
  const clock = new FakeClock()
  const log: (ObjectCounts | 'deleted')[] = []
  const recorder = {
    update: (resource: GroupResource, counts: ObjectCounts) => {
      if (resource === PODS) log.push(counts)
    },
    delete: () => void log.push('deleted'),
  }
  const options = { resource: PODS, stats, periodMs, recorder, clock, logger: nullLogger, random: () => random }
  return { clock, log, poller: new CountPoller(options) }
}
const settle = () => new Promise((resolve) => setImmediate(resolve))

t.test('counts at once and then every period', async (t) => {
  let objectCount = 0
  const { clock, log, poller } = rig(async () => ({ objectCount: ++objectCount, estimatedAverageObjectSizeBytes: 10 }))
  t.equal(clock.pendingTimers, 0, 'the constructor starts nothing')
  poller.start()
  await settle()
  t.same(log, [{ objects: 1, estimatedBytes: 10 }])
  await clock.advance(MINUTE_MS - 1)
  t.equal(log.length, 1)
  await clock.advance(1)
  t.same(log[1], { objects: 2, estimatedBytes: 20 })
  await clock.advance(2 * MINUTE_MS)
  t.equal(log.length, 4)
  poller.stop()
})

t.test('the period is stretched by up to 1.2 of itself', async (t) => {
  const stats = async () => ({ objectCount: 0, estimatedAverageObjectSizeBytes: 0 })
  const { clock, log, poller } = rig(stats, { random: 1 })
  poller.start()
  await settle()
  await clock.advance(2.2 * MINUTE_MS - 1)
  t.same(log, [{ objects: 0, estimatedBytes: 0 }], 'of no objects the size is known')
  await clock.advance(1)
  t.equal(log.length, 2)
  poller.stop()
})

t.test('a failure counts as -1 and the next period tries again', async (t) => {
  let failing = true
  const { clock, log, poller } = rig(async () => {
    if (failing) throw new Error('unreachable')
    return { objectCount: 3, estimatedAverageObjectSizeBytes: 0 }
  })
  poller.start()
  await settle()
  t.same(log, [{ objects: -1, estimatedBytes: -1 }])
  failing = false
  await clock.advance(MINUTE_MS)
  t.same(log[1], { objects: 3, estimatedBytes: -1 }, 'of objects without a known size the size is not known')
  poller.stop()
})

t.test('stop() takes the figures back, once, also from an answer under way', async (t) => {
  let answer: (stats: StorageStats) => void = () => undefined
  const { clock, log, poller } = rig(
    () =>
      new Promise((resolve) => {
        answer = resolve
      }),
  )
  poller.start()
  poller.stop()
  poller.stop()
  answer({ objectCount: 1, estimatedAverageObjectSizeBytes: 1 })
  await settle()
  t.same(log, ['deleted'])
  t.equal(clock.pendingTimers, 0)
})

t.test('a period of 0 counts nothing', async (t) => {
  const { clock, log, poller } = rig(async () => t.fail('asked') as never, { periodMs: 0 })
  poller.start()
  await settle()
  poller.stop()
  t.same(log, [])
  t.equal(clock.pendingTimers, 0)
})
