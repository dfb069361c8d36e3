/** The short, fixed set of `npm run test:faults`: one run on the embedded engine and one on etcd, a few seconds of load each. */
import t from 'tap'
import { skipWithoutEtcd } from '../support/etcd-server.js'
import { planOf, told } from './plan.js'
import type { StorageKind } from './rig/rig.js'
import { runFaults } from './run.js'

const SECONDS = 8
/** Chosen so that together they kill, stop, hold and cut, at servers, lines and members. */
const SET: readonly { readonly storage: StorageKind; readonly seed: number }[] = [
  { storage: 'embedded', seed: 5 },
  { storage: 'etcd', seed: 3 },
]

for (const { storage, seed } of SET) {
  const skip = storage === 'etcd' ? skipWithoutEtcd : false
  t.test(`seed ${seed} on ${storage}: no violation`, { skip }, async (t) => {
    const outcome = await runFaults({ seed, seconds: SECONDS, storage, only: [], keep: 'build/faults' })
    t.comment(told(outcome.plan))
    t.comment(`${outcome.requests} requests, ${outcome.acknowledged} acknowledged, ${outcome.watchEvents} events`)
    t.equal(outcome.broken, undefined)
    t.same(outcome.violations, [])
    t.ok(outcome.acknowledged > 0, 'writes were acknowledged')
    t.ok(outcome.watchEvents > 0, 'events were seen')
  })
}

t.test('a seed gives the same faults every time', async (t) => {
  const plan = told(planOf(7, 60, 'etcd'))
  t.equal(told(planOf(7, 60, 'etcd')), plan)
  t.not(told(planOf(8, 60, 'etcd')), plan)
  t.ok(planOf(7, 60, 'embedded').every(({ fault }) => !fault.needsEtcd))
})
