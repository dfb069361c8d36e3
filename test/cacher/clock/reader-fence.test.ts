import t from 'tap'
import { ClockTruth } from '#keelson/cacher/clock/clock-truth.js'
import { FollowingEpoch } from '#keelson/cacher/clock/following-epoch.js'
import { ReaderFence } from '#keelson/cacher/clock/reader-fence.js'
import { Deferred } from '#keelson/lib/deferred.js'
import type { RevisionSource } from '#keelson/storage/contract/revision-source.js'
import { FakeClock } from '../../support/fake-clock.js'
import { MemoryClock } from '../../support/memory-arena.js'
import { until } from '../../support/until.js'

/** A store that answers when the test says so. */
class HeldSource implements RevisionSource {
  readonly questions: Deferred<number | undefined>[] = []
  isConnected = true

  ask(): Promise<number | undefined> | undefined {
    if (!this.isConnected) return undefined
    const question = new Deferred<number | undefined>()
    this.questions.push(question)
    return question.promise
  }

  answer(revision: number | undefined): void {
    this.questions.at(-1)!.resolve(revision)
  }

  close(): void {
    this.isConnected = false
  }
}

/** A fence in a reading thread at revision 10 of a store that is followed. */
class Fixture {
  readonly truth = new ClockTruth()
  readonly following = new FollowingEpoch()
  readonly revisionClock = new MemoryClock()
  readonly clock = new FakeClock()
  readonly source = new HeldSource()
  readonly wentBack: { revision: number; epoch: number }[] = []
  ownerSays = true
  ownersQuestions = 0
  passedAlone = 0
  readonly fence = new ReaderFence({
    truth: this.truth,
    following: this.following,
    revisionClock: this.revisionClock,
    clock: this.clock,
    source: this.source,
    askOwner: () => {
      this.ownersQuestions++
      return Promise.resolve(this.ownerSays)
    },
    tellWentBack: (revision, epoch) => this.wentBack.push({ revision, epoch }),
    onPassed: () => {
      this.passedAlone++
    },
  })

  constructor() {
    this.revisionClock.advance(10)
    this.following.follow(true)
  }

  /** Begins a read and returns when its question is out. */
  async asked(): Promise<{ readonly passing: Promise<boolean> }> {
    const before = this.source.questions.length
    const passing = Promise.resolve(this.fence.pass())
    await until(() => this.source.questions.length > before, { what: 'a question to the store' })
    return { passing }
  }
}

/** Lets everything go on that needs no time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test(
  'one question answers the reads that came before it, and none that came later; the owner is not asked',
  async (t) => {
    const f = new Fixture()
    const early = [f.fence.pass(), f.fence.pass(), f.fence.pass()]
    await until(() => f.source.questions.length === 1, { what: 'the first question' })
    const late = [f.fence.pass(), f.fence.pass()]
    await settled()
    t.equal(f.source.questions.length, 1, 'one question is under way at a time')
    f.source.answer(10)
    t.same(await Promise.all(early), [true, true, true])
    let isLate = true
    void Promise.resolve(late[0]!).then(() => {
      isLate = false
    })
    await settled()
    t.ok(isLate, 'an answer to an earlier question lets nobody through')
    t.equal(f.source.questions.length, 2)
    f.source.answer(10)
    t.same(await Promise.all(late), [true, true])
    t.equal(f.ownersQuestions, 0)
    t.equal(f.passedAlone, 2)
  },
)

t.test('a read waits until the clock has reached the answer', async (t) => {
  const f = new Fixture()
  const { passing } = await f.asked()
  let passed: boolean | undefined
  void passing.then((value) => {
    passed = value
  })
  f.source.answer(12)
  f.revisionClock.advance(11)
  await settled()
  t.equal(passed, undefined)
  f.revisionClock.advance(12)
  t.equal(await passing, true)
  t.equal(f.ownersQuestions, 0)
  t.equal(f.clock.pendingTimers, 0)
})

t.test('when the clock stays behind, the owner is asked, who can push the stream', async (t) => {
  const f = new Fixture()
  for (const says of [true, false]) {
    f.ownerSays = says
    f.ownersQuestions = 0
    const { passing } = await f.asked()
    f.source.answer(12)
    await settled()
    t.equal(f.ownersQuestions, 0)
    await f.clock.advance(5)
    t.equal(await passing, says)
    t.equal(f.ownersQuestions, 1)
  }
  t.equal(f.passedAlone, 0)
})

t.test('of a store that went back the owner is told at once, and the read is sent to the storage', async (t) => {
  const f = new Fixture()
  const { passing } = await f.asked()
  // What is seen after the question was sent proves nothing of its answer.
  f.revisionClock.advance(11)
  f.source.answer(9)
  t.equal(await passing, false)
  t.same(f.wentBack, [{ revision: 9, epoch: f.following.current() }])
  const { passing: second } = await f.asked()
  f.source.answer(11)
  t.equal(await second, true)
  const { passing: overtaken } = await f.asked()
  f.revisionClock.advance(13)
  f.source.answer(12)
  t.equal(await overtaken, true, 'a clock that has passed the answer meanwhile is not a store that went back')
  t.equal(f.wentBack.length, 1)
})

t.test('when memory is listed again meanwhile, the clock alone lets nobody through', async (t) => {
  const f = new Fixture()
  const { passing: asked } = await f.asked()
  f.following.follow(false)
  f.revisionClock.rewind(3)
  f.following.follow(true)
  f.revisionClock.advance(20)
  f.source.answer(10)
  f.ownerSays = false
  t.equal(await asked, false, 'the owner decides')
  t.equal(f.ownersQuestions, 1)

  f.ownerSays = true
  const { passing: waiting } = await f.asked()
  f.source.answer(22)
  await settled()
  f.following.follow(false)
  f.revisionClock.advance(22)
  t.equal(await waiting, true, 'the owner decides here too')
  t.equal(f.ownersQuestions, 2)
  t.equal(f.passedAlone, 0)
})

t.test('while the clock does not follow the store, nobody is asked and nobody passes', async (t) => {
  const f = new Fixture()
  f.following.follow(false)
  t.equal(await f.fence.pass(), false)
  t.equal(f.source.questions.length, 0)
  t.equal(f.ownersQuestions, 0)
})

t.test('a question that is lost goes to the owner, and so do the next ones for a while', async (t) => {
  const f = new Fixture()
  const { passing } = await f.asked()
  const next = f.fence.pass()
  f.source.answer(undefined)
  t.equal(await passing, true)
  t.equal(await next, true)
  t.equal(f.source.questions.length, 1)
  f.ownerSays = false
  t.equal(await f.fence.pass(), false)
  t.equal(f.source.questions.length, 1)
  await f.clock.advance(6_000)
  const { passing: again } = await f.asked()
  f.source.answer(10)
  t.equal(await again, true)
})

t.test('without a connection of its own a thread asks the owner', async (t) => {
  const f = new Fixture()
  f.source.close()
  t.equal(await f.fence.pass(), true)
  f.ownerSays = false
  t.same(await Promise.all([f.fence.pass(), f.fence.pass()]), [false, false])
  t.equal(f.ownersQuestions, 2, 'once a turn')
})

t.test('where the clock is the truth a read passes at once', (t) => {
  const f = new Fixture()
  f.truth.set(true)
  t.equal(f.fence.pass(), true)
  t.end()
})
