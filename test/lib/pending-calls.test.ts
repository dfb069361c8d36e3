import t from 'tap'
import { PendingCalls } from '#keelson/lib/pending-calls.js'

t.test('an answer settles the call whose id it carries, once', async (t) => {
  const calls = new PendingCalls<string>()
  const [first, second] = [calls.nextId(), calls.nextId()]
  const [one, two] = [calls.wait(first), calls.wait(second)]
  t.equal(calls.resolve(second, 'two'), true)
  t.equal(await two, 'two')
  t.notOk(calls.has(second))
  t.ok(calls.has(first))
  t.equal(calls.reject(first, new Error('refused')), true)
  await t.rejects(one, { message: 'refused' })
  t.equal(calls.resolve(first, 'late'), false, 'what has been settled is not there to be settled again')
  t.equal(calls.reject(99, new Error('nobody asked')), false)
})

t.test('a message that nobody answers takes an id, and is no call', async (t) => {
  const calls = new PendingCalls<string>()
  const id = calls.nextId()
  t.notOk(calls.has(id))
  t.not(calls.nextId(), id)
})

t.test('what is kept up until a call is settled is released once, however it is settled', async (t) => {
  const ways: ((calls: PendingCalls<string>, id: number) => void)[] = [
    (calls, id) => calls.resolve(id, 'done'),
    (calls, id) => calls.reject(id, new Error('refused')),
    (calls) => calls.resolveAll('gone'),
    (calls) => calls.rejectAll(new Error('gone')),
  ]
  for (const settle of ways) {
    const calls = new PendingCalls<string>()
    const id = calls.nextId()
    let released = 0
    const settled = calls
      .wait(id, () => {
        released++
      })
      .then(
        () => true,
        () => true,
      )
    settle(calls, id)
    settle(calls, id)
    t.equal(await settled, true)
    t.equal(released, 1)
  }
})

t.test('when the other end is gone, every call is settled', async (t) => {
  const calls = new PendingCalls<boolean>()
  const asked = [calls.wait(calls.nextId()), calls.wait(calls.nextId())]
  calls.resolveAll(false)
  t.same(await Promise.all(asked), [false, false])
  const again = [calls.wait(calls.nextId()), calls.wait(calls.nextId())]
  calls.rejectAll(new Error('the port is closed'))
  for (const call of again) await t.rejects(call, { message: 'the port is closed' })
})
