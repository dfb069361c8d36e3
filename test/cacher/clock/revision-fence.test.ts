import t from 'tap'
import { RevisionFence } from '#keelson/cacher/clock/revision-fence.js'
import { StreamProgress } from '#keelson/cacher/clock/stream-progress.js'
import { CacherMetrics } from '#keelson/cacher/feed/cacher-metrics.js'
import { Deferred } from '#keelson/lib/deferred.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { until } from '../../support/until.js'
import { bytes, object, ReflectorFixture } from '../feed/reflector-fixture.js'

const MARK = '/registry/keelson/fence'

async function fixture(t: ConstructorParameters<typeof ReflectorFixture>[0], progressTrusted = true) {
  const f = new ReflectorFixture(t)
  void f.reflector.addResource(f.registration('pods'))
  f.reflector.start()
  await f.reflector.synced
  f.kv.revisionQuestions = 0
  const { kv, revisionClock, clock } = f
  const progress = new StreamProgress({
    kv,
    markKey: MARK,
    progressTrusted: () => progressTrusted,
    revisionClock,
    clock,
    logger: nullLogger,
  })
  const metrics = new CacherMetrics(noRecorder())
  const fence = new RevisionFence({
    kv,
    revisionClock,
    progress,
    clock,
    metrics,
    following: () => f.reflector.following,
    onWentBack: (revision) => f.reflector.relist(`at ${revision}`),
  })
  return { f, fence }
}

/** The outcome, with time passing meanwhile. */
async function outcome(f: ReflectorFixture, passed: Promise<boolean>): Promise<boolean> {
  const result: boolean[] = []
  void passed.then((value) => result.push(value))
  await until(
    async () => {
      await f.clock.advance(1)
      return result.length > 0
    },
    { what: 'the fence to let the read through or not' },
  )
  return result[0]!
}

t.test('one question answers all reads that arrived before it was sent, and none that came later', async (t) => {
  const { f, fence } = await fixture(t)
  const answer = new Deferred<void>()
  f.kv.beforeRevision = () => answer.promise
  const early = [fence.pass(), fence.pass(), fence.pass()]
  await until(() => f.kv.revisionQuestions === 1, { what: 'one question for the revision' })
  const late = [fence.pass(), fence.pass()]
  answer.resolve()
  t.same(await Promise.all([...early, ...late]), [true, true, true, true, true])
  t.equal(f.kv.revisionQuestions, 2)
})

t.test('a read waits until memory has what was written before it', async (t) => {
  const { f, fence } = await fixture(t)
  f.kv.pause()
  const revision = await f.put('/registry/pods/a', object('a'))
  let passed: boolean | undefined
  void fence.pass().then((value) => {
    passed = value
  })
  await until(() => f.kv.revisionQuestions === 1, { what: 'one question for the revision' })
  await f.clock.advance(50)
  t.equal(passed, undefined)
  f.kv.resume()
  await until(() => passed !== undefined, { what: 'the fence to be passed' })
  t.equal(passed, true)
  t.equal(f.revisionClock.revision(), revision)
})

t.test('a write outside the prefix is passed by asking for progress where that can be trusted', async (t) => {
  const { f, fence } = await fixture(t)
  const revision = await f.put('/elsewhere', bytes('x'))
  t.equal(await outcome(f, fence.pass()), true)
  t.equal(f.revisionClock.revision(), revision)
  t.equal(f.kv.progressRequests, 1)
  t.same((await f.memoryKv.get(MARK)).kv, undefined)
})

t.test('where it cannot, one mark inside the prefix serves all reads until the next write outside', async (t) => {
  const { f, fence } = await fixture(t, false)
  const revision = await f.put('/elsewhere', bytes('x'))
  t.equal(await outcome(f, fence.pass()), true)
  t.ok(f.revisionClock.revision() > revision)
  t.equal(f.kv.progressRequests, 0)
  const { kv } = await f.memoryKv.get(MARK)
  t.equal(kv?.version, 1)
  t.equal(await outcome(f, fence.pass()), true)
  t.equal((await f.memoryKv.get(MARK)).kv?.version, 1, 'no second mark')
  await f.put('/elsewhere/again', bytes('x'))
  t.equal(await outcome(f, fence.pass()), true)
  t.equal((await f.memoryKv.get(MARK)).kv?.version, 2)
})

t.test('a mark that a peer wrote in between is followed by one of our own only when it is too old', async (t) => {
  const { f, fence } = await fixture(t, false)
  await f.put('/elsewhere', bytes('x'))
  t.equal(await outcome(f, fence.pass()), true)
  await f.put(MARK, bytes('of a peer'))
  await f.put('/elsewhere', bytes('y'))
  t.equal(await outcome(f, fence.pass()), true)
  t.equal(f.revisionClock.revision(), f.memoryKv.revision)
})

t.test('past its limit a read is sent to the storage', async (t) => {
  const { f, fence } = await fixture(t)
  f.kv.pause()
  await f.put('/registry/pods/a', object('a'))
  const start = f.clock.now()
  t.equal(await outcome(f, fence.pass()), false)
  t.ok(f.clock.now() - start >= 3_000)
  f.kv.resume()
})

t.test('a store that does not answer sends reads to the storage, which says what is wrong', async (t) => {
  const { f, fence } = await fixture(t)
  f.kv.beforeRevision = () => {
    throw new StorageError('unreachable', 'no etcd')
  }
  t.equal(await fence.pass(), false)
})

t.test('while memory does not follow the store nobody waits', async (t) => {
  const { f, fence } = await fixture(t)
  f.kv.pause()
  await f.put('/registry/pods/a', object('a'))
  const waiting = fence.pass()
  await until(() => f.kv.revisionQuestions === 1, { what: 'one question for the revision' })
  await new Promise((resolve) => setImmediate(resolve))
  fence.abandon()
  t.equal(await waiting, false)
  f.kv.breakWatches(new StorageError('unreachable', 'cut'))
  await until(() => !f.reflector.following, { what: 'the reflector to stop following' })
  t.equal(await fence.pass(), false)
  t.equal(f.kv.revisionQuestions, 1)
  f.kv.resume()
})

t.test(
  'a store that answers at an older revision than was seen is not believed, and everything is listed again',
  async (t) => {
    const { f, fence } = await fixture(t)
    f.revisionClock.advance(1000)
    t.equal(await outcome(f, fence.pass()), false, 'the read goes to the storage')
    await f.eventually(() => f.reflector.following, 'the reflector to follow again')
    t.ok(f.revisionClock.revision() < 1000, 'the clock went back with the store')
    t.equal(await outcome(f, fence.pass()), true)
  },
)
