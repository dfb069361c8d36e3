/**
 * Fault runs by seed. Run: `npm run test:faults -- --seed 1 --runs 10 --seconds 60 --storage etcd|embedded`. `--only 'kill a member'` chooses
 * faults, `--check folder/history.jsonl` checks a kept history again. The exit code is 1 when anything was found.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { fromLines } from './check/history.js'
import { check } from './check/verdict.js'
import { CHECKS } from './load/workload.js'
import { FAULTS } from './rig/faults.js'
import { runFaults } from './run.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    storage: { type: 'string', default: 'etcd' },
    only: { type: 'string', default: '' },
    keep: { type: 'string', default: 'build/faults' },
    check: { type: 'string' },
  },
})

function checkAgain(file: string): number {
  const violations = check(fromLines(readFileSync(file, 'utf8')), CHECKS)
  for (const { property, what } of violations) console.log(`${property}: ${what}`)
  console.log(violations.length === 0 ? 'no violation' : `${violations.length} violations`)
  return violations.length
}

async function runAll(): Promise<number> {
  const { storage, keep } = values
  if (storage !== 'etcd' && storage !== 'embedded') throw new Error(`--storage is etcd or embedded, not ${storage}`)
  const only = values.only.split(',').filter((name) => name !== '')
  const unknown = only.filter((name) => !FAULTS.some((fault) => fault.name === name))
  if (unknown.length > 0)
    throw new Error(`no such fault: ${unknown}. There are: ${FAULTS.map(({ name }) => name).join(', ')}`)
  let failed = 0
  for (let i = 0; i < Number(values.runs); i++) {
    const seed = Number(values.seed) + i
    const outcome = await runFaults({ seed, seconds: Number(values.seconds), storage, only, keep })
    const faults = new Map<string, number>()
    for (const { fault } of outcome.plan) faults.set(fault.name, (faults.get(fault.name) ?? 0) + 1)
    const { requests, acknowledged, unknown: unanswered, watchEvents, violations, broken, kept } = outcome
    const isFine = violations.length === 0 && broken === undefined
    if (!isFine) failed++
    console.log(
      [
        `seed ${seed} ${storage}`,
        `${outcome.plan.length} faults (${[...faults].map(([name, count]) => (count === 1 ? name : `${count} × ${name}`)).join(', ')})`,
        `${requests} requests, ${acknowledged} acknowledged writes, ${unanswered} unanswered, ${watchEvents} watch events`,
        isFine ? 'no violation' : `FAILED, see ${kept}`,
      ].join(' | '),
    )
    if (broken !== undefined) console.log(`  ${broken}`)
    for (const { property, what } of violations) console.log(`  ${property}: ${what}`)
  }
  return failed
}

process.exitCode = (values.check === undefined ? await runAll() : checkAgain(values.check)) > 0 ? 1 : 0
