/** The short, fixed set of `npm run test:faults`: one run on the embedded engine and one on etcd, a few seconds of load each. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { skipWithoutEtcd } from '../support/etcd-server.js'
import { hasTls, planOf, told } from './plan.js'
import { FAULTS } from './rig/faults.js'
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

t.test('certificates end in the runs that have any', async (t) => {
  t.notOk(hasTls(7))
  t.ok(planOf(7, 600, 'etcd').every(({ fault }) => !fault.needsTls))
  t.ok(hasTls(9) && planOf(9, 600, 'etcd').some(({ fault }) => fault.needsTls))
  t.ok(hasTls(7, ['the certificate of a server ends']), 'a fault that is asked for has what it needs')
})

t.test('every fault is in the table of docs/reliability.md', async (t) => {
  const table = readFileSync('docs/reliability.md', 'utf8')
  for (const { name } of FAULTS) t.ok(table.includes(`\`${name}\``), name)
})
