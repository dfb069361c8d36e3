import t from 'tap'
import { newConflict } from '#keelson/api/status.js'
import { Unfinished } from '#keelson/controllers/framework/unfinished.js'
import { WorkQueue } from '#keelson/controllers/framework/work-queue.js'
import { Deferred } from '#keelson/lib/deferred.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { noRecorder } from '#keelson/metrics/recorder.js'
import { WorkMetrics } from '#keelson/metrics/work-metrics.js'
import { FakeClock } from '../support/fake-clock.js'

function open(sync: (key: string) => Promise<void>, clock = new FakeClock(), workers = 2) {
  const metrics = new WorkMetrics('test', noRecorder(), clock)
  return new WorkQueue({ sync, workers, clock, logger: nullLogger, metrics })
}
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('a key that is added while it is worked on is worked on once more, not beside', async (t) => {
  const gates = [new Deferred<void>(), new Deferred<void>()]
  let calls = 0
  const queue = open(() => gates[calls++]!.promise)
  queue.start()
  queue.add('a')
  queue.add('a')
  t.equal(calls, 0, 'nothing begins in the call that adds')
  await settle()
  t.equal(calls, 1)
  queue.add('a')
  queue.add('a')
  t.equal(calls, 1)
  gates[0]!.resolve()
  await settle()
  t.equal(calls, 2)
  gates[1]!.resolve()
  await queue.stop()
  t.equal(calls, 2)
})

t.test('a key that fails comes back after a pause that doubles, and is forgotten when it went well', async (t) => {
  const clock = new FakeClock()
  const at: number[] = []
  let fails = 3
  const started = clock.monotonicMs()
  const queue = open(async () => {
    at.push(clock.monotonicMs() - started)
    if (fails-- > 0) throw new Error('not yet')
  }, clock)
  queue.start()
  queue.add('a')
  await settle()
  await clock.advance(1000)
  t.same(at, [0, 5, 15, 35])
  t.equal(queue.lastFailure, undefined)
  await queue.stop()
})

t.test('a key that the objects of clients hold up is tried again, and the controller stays healthy', async (t) => {
  const clock = new FakeClock()
  const failures = [
    new Unfinished('not yet'),
    newConflict({ group: '', resource: 'pods' }, 'a', 'changed'),
    new Error('a bug'),
  ]
  const seen: (string | undefined)[] = []
  const queue = open(async () => {
    const failure = failures.shift()
    if (failure !== undefined) throw failure
  }, clock)
  queue.start()
  queue.add('a')
  await settle()
  for (const waitMs of [5, 10, 20]) {
    seen.push(queue.lastFailure?.message)
    await clock.advance(waitMs)
  }
  seen.push(queue.lastFailure?.message)
  t.same(seen, [undefined, undefined, 'a bug', undefined])
  await queue.stop()
})

t.test('the earlier of two delayed adds counts; a stopped queue takes nothing', async (t) => {
  const clock = new FakeClock()
  const done: string[] = []
  const queue = open(async (key) => void done.push(key), clock)
  queue.start()
  queue.addAfter('a', 100)
  queue.addAfter('a', 50)
  queue.addAfter('a', 200)
  await clock.advance(60)
  t.same(done, ['a'])
  await clock.advance(500)
  t.same(done, ['a'])
  await queue.stop()
  queue.add('b')
  await settle()
  t.same(done, ['a'])
})
