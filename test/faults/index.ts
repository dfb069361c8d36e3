/**
 * Fault runs by seed. `npm run test:faults -- --seed 1 --runs 10 --seconds 60 --storage etcd|embedded|both` does them one after the other and
 * prints a line each; with `--parallel 4 --minutes 90 --results FILE` they are a batch (see batch.ts). `--only 'kill a member'` chooses faults,
 * `--check folder/history.jsonl` checks a kept history again. The exit code is 1 when anything was found.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type ResultLine, runBatch, type Verdict } from './batch.js'
import { fromLines } from './check/history.js'
import { check } from './check/verdict.js'
import { CHECKS } from './load/workload.js'
import { FAULTS } from './rig/faults.js'
import type { StorageKind } from './rig/rig.js'
import { canMount } from './rig/small-disk.js'
import { type Outcome, runFaults } from './run.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    storage: { type: 'string', default: 'etcd' },
    only: { type: 'string', default: '' },
    'pause-ms': { type: 'string', default: '60' },
    keep: { type: 'string', default: 'build/faults' },
    parallel: { type: 'string' },
    minutes: { type: 'string', default: '600' },
    results: { type: 'string', default: 'build/faults/results.jsonl' },
    before: { type: 'string', default: 'true' },
    check: { type: 'string' },
  },
})

function checkAgain(file: string): number {
  const violations = check(fromLines(readFileSync(file, 'utf8')), CHECKS)
  for (const { property, what } of violations) console.log(`${property}: ${what}`)
  console.log(violations.length === 0 ? 'no violation' : `${violations.length} violations`)
  return violations.length
}

/** With `both`, every other seed. */
function storageOf(seed: number): StorageKind {
  const { storage } = values
  if (storage === 'both') return seed % 2 === 0 ? 'etcd' : 'embedded'
  if (storage !== 'etcd' && storage !== 'embedded')
    throw new Error(`--storage is etcd, embedded or both, not ${storage}`)
  return storage
}

async function runAll(): Promise<number> {
  const only = values.only.split(',').filter((name) => name !== '')
  const unknown = only.filter((name) => !FAULTS.some((fault) => fault.name === name))
  if (unknown.length > 0)
    throw new Error(`no such fault: ${unknown}. There are: ${FAULTS.map(({ name }) => name).join(', ')}`)
  const commit = builtCommit()
  let failed = 0
  for (let i = 0; i < Number(values.runs); i++) {
    const seed = Number(values.seed) + i
    const [seconds, pauseMs, storage] = [Number(values.seconds), Number(values['pause-ms']), storageOf(seed)]
    const begunMs = performance.now()
    const outcome = await runFaults({ seed, seconds, storage, only, keep: values.keep, pauseMs, smallDisks: canMount })
    const line = lineOf(outcome, storage, commit, Math.round((performance.now() - begunMs) / 1000))
    if (line.verdict !== 'no violation') failed++
    process.send?.(line)
    tell(line)
  }
  return failed
}

function lineOf(outcome: Outcome, storage: StorageKind, commit: string, seconds: number): ResultLine {
  const { seed, plan, requests, acknowledged, unknown: unanswered, watchEvents, kept } = outcome
  const faults: Record<string, number> = {}
  for (const { fault } of plan) faults[fault.name] = (faults[fault.name] ?? 0) + 1
  const found = outcome.violations.map(({ property, what }) => `${property}: ${what}`)
  if (outcome.broken !== undefined) found.unshift(outcome.broken)
  const counts = { requests, acknowledged, unanswered, watchEvents, seconds, processorSeconds: processorSeconds() }
  const line = { seed, storage, commit, verdict: verdictOf(outcome), faults, ...counts }
  return kept === undefined ? line : { ...line, found, kept }
}

function verdictOf({ broken, violations }: Outcome): Verdict {
  if (broken !== undefined) return 'broken'
  if (violations.length === 0) return 'no violation'
  return violations.every(({ property }) => property === 'undecided') ? 'undecided' : 'violation'
}

function tell({
  seed,
  storage,
  faults,
  requests,
  acknowledged,
  unanswered,
  watchEvents,
  verdict,
  kept,
  found = [],
}: ResultLine) {
  const names = Object.entries(faults).map(([name, count]) => (count === 1 ? name : `${count} × ${name}`))
  const total = Object.values(faults).reduce((sum, count) => sum + count, 0)
  console.log(
    [
      `seed ${seed} ${storage}`,
      `${total} faults (${names.join(', ')})`,
      `${requests} requests, ${acknowledged} acknowledged writes, ${unanswered} unanswered, ${watchEvents} watch events`,
      kept === undefined ? verdict : `FAILED, see ${kept}`,
    ].join(' | '),
  )
  for (const what of found) console.log(`  ${what}`)
}

/** Of this process and of all that it has started and that have ended, as Linux counts them: in hundredths of a second. */
function processorSeconds(): number | null {
  if (!existsSync('/proc/self/stat')) return null
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return Math.round(fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100)
}

function builtCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch (error) {
    // A copy without its repository, or a machine without git, runs all the same.
    if (error instanceof Error) return 'unknown'
    throw error
  }
}

function runMany(): Promise<number> {
  const { seconds, storage, only, keep, minutes, results, before } = values
  const args = [
    '--seconds',
    seconds,
    '--storage',
    storage,
    '--only',
    only,
    '--keep',
    keep,
    '--pause-ms',
    values['pause-ms'],
  ]
  const [from, runs, parallel] = [values.seed, values.runs, values.parallel].map(Number) as [number, number, number]
  return runBatch({ from, runs, parallel, minutes: Number(minutes), results, before, args })
}

async function main(): Promise<number> {
  if (values.check !== undefined) return checkAgain(values.check)
  return values.parallel === undefined ? runAll() : runMany()
}

process.exitCode = (await main()) > 0 ? 1 : 0
