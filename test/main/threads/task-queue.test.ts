import t from 'tap'
import { StatusError } from '#keelson/api/status.js'
import { RemoteCaller } from '#keelson/main/threads/caller.js'
import { TaskCancelled } from '#keelson/main/threads/task-cancelled.js'
import { TaskQueue } from '#keelson/main/threads/task-queue.js'

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

t.test('so many run at once, the others in order; who gives up never begins', async (t) => {
  const queue = new TaskQueue({ capacity: () => 2, maxWaiting: 3 })
  const begun: number[] = []
  const ends: (() => void)[] = []
  const task = (n: number) => (): Promise<number> => {
    begun.push(n)
    return new Promise((resolve) => {
      ends[n] = () => resolve(n)
    })
  }
  const giveUp = new RemoteCaller()
  const results = [0, 1, 2].map((n) => queue.run(task(n)))
  const given = failure(queue.run(task(3), giveUp))
  const last = queue.run(task(4))
  t.same(begun, [0, 1])
  t.equal(queue.waiting, 3)
  const refused = await failure(queue.run(task(5)))
  t.equal(refused instanceof StatusError && refused.code, 429)
  giveUp.leave()
  ends[0]!()
  await results[0]
  t.same(begun, [0, 1, 2])
  ends[1]!()
  await results[1]
  t.ok((await given) instanceof TaskCancelled)
  t.same(begun, [0, 1, 2, 4])
  ends[2]!()
  ends[4]!()
  t.equal(await last, 4)
  t.equal(queue.waiting, 0)
})

t.test('a task that fails makes room', async (t) => {
  const queue = new TaskQueue({ capacity: () => 1, maxWaiting: 1 })
  const broken = queue.run(() => Promise.reject(new Error('broken')))
  const next = queue.run(async () => 'next')
  t.match(await failure(broken), { message: 'broken' })
  t.equal(await next, 'next')
})

t.test('what has grown is used in the order in which tasks came', async (t) => {
  let capacity = 1
  const queue = new TaskQueue({ capacity: () => capacity, maxWaiting: 10 })
  const begun: number[] = []
  const task = (n: number) => (): Promise<void> => {
    begun.push(n)
    return new Promise(() => undefined)
  }
  for (let n = 0; n < 3; n++) void queue.run(task(n))
  t.same(begun, [0])
  capacity = 2
  void queue.run(task(3))
  t.same(begun, [0, 1], 'who comes later does not overtake')
  capacity = 4
  queue.look()
  t.same(begun, [0, 1, 2, 3])
})
