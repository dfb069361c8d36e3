import t from 'tap'
import { Inflight, isLongRunning, isMutating } from '#keelson/main/request/inflight.js'
import { RequestRefused } from '#keelson/main/request/request-gate.js'
import { FrontEndState } from '#keelson/main/threads/front-end-state.js'

const refusal = (enter: () => unknown): RequestRefused | undefined => {
  try {
    enter()
  } catch (error) {
    if (error instanceof RequestRefused) return error
    throw error
  }
  return undefined
}

t.test('reads and writes are counted apart, and who leaves makes room', async (t) => {
  const state = new FrontEndState()
  const inflight = new Inflight({ maxRequests: 2, maxMutatingRequests: 1 }, state)
  const leave = inflight.enter({ mutating: false, longRunning: false })
  inflight.enter({ mutating: false, longRunning: false })
  inflight.enter({ mutating: true, longRunning: false })
  const refused = refusal(() => inflight.enter({ mutating: false, longRunning: false }))
  t.equal(refused?.retryAfterSeconds, 1)
  t.ok(refusal(() => inflight.enter({ mutating: true, longRunning: false })))
  t.same(state.inflight, { reads: 2, writes: 1 }, 'who was refused takes no place')
  leave()
  t.same(state.inflight, { reads: 1, writes: 1 })
  inflight.enter({ mutating: false, longRunning: false })
})

t.test('what lasts takes no place', async (t) => {
  const state = new FrontEndState()
  const inflight = new Inflight({ maxRequests: 1, maxMutatingRequests: 1 }, state)
  for (let i = 0; i < 3; i++) inflight.enter({ mutating: false, longRunning: true })()
  t.same(state.inflight, { reads: 0, writes: 0 })
})

t.test('front ends count together', async (t) => {
  const state = new FrontEndState()
  const limits = { maxRequests: 1, maxMutatingRequests: 1 }
  const one = new Inflight(limits, state)
  const other = new Inflight(limits, new FrontEndState(state.buffer))
  const leave = one.enter({ mutating: true, longRunning: false })
  t.ok(refusal(() => other.enter({ mutating: true, longRunning: false })))
  leave()
  other.enter({ mutating: true, longRunning: false })()
  t.same(state.inflight, { reads: 0, writes: 0 })
})

t.test('a limit of 0 is none', async (t) => {
  const state = new FrontEndState()
  const inflight = new Inflight({ maxRequests: 0, maxMutatingRequests: 0 }, state)
  for (let i = 0; i < 1000; i++) inflight.enter({ mutating: i % 2 === 0, longRunning: false })
  t.same(state.inflight, { reads: 500, writes: 500 })
})

t.test('what counts as a write, and what is not counted', async (t) => {
  for (const verb of ['create', 'update', 'patch', 'delete', 'deletecollection']) t.ok(isMutating(verb), verb)
  for (const verb of ['get', 'list', 'watch']) t.notOk(isMutating(verb), verb)
  t.ok(isLongRunning('watch', ''))
  t.ok(isLongRunning('get', 'log'))
  t.notOk(isLongRunning('get', 'status'))
})
