/**
 * Fault runs by seed. `npm run test:faults -- --seed 1 --runs 10 --seconds 60 --storage etcd|embedded|both` does them one after the other and
 * prints a line each; with `--parallel 4 --minutes 90 --results FILE` they are a batch (see batch.ts). `--help` tells the rest.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { type FaultsArguments, faultsArguments, faultsList, storageOf, USAGE } from './arguments.js'
import { type ResultLine, runBatch, type Verdict } from './batch.js'
import { fromLines } from './check/history.js'
import { check } from './check/verdict.js'
import { CHECKS } from './load/workload.js'
import { leftovers } from './rig/leftovers.js'
import type { StorageKind } from './rig/rig.js'
import { canMount } from './rig/small-disk.js'
import { type Outcome, runFaults } from './run.js'

const WRONG_ARGUMENTS = 2

/** Gives the exit code. */
function checkAgain(file: string): number {
  let records: ReturnType<typeof fromLines>
  try {
    records = fromLines(readFileSync(file, 'utf8'))
  } catch (error) {
    console.error(`test:faults: ${file} is no history: ${(error as Error).message}`)
    return WRONG_ARGUMENTS
  }
  const violations = check(records, CHECKS)
  for (const { property, what } of violations) console.log(`${property}: ${what}`)
  console.log(violations.length === 0 ? 'no violation' : `${violations.length} violations`)
  return Math.min(1, violations.length)
}

async function runAll({
  seed: from,
  runs,
  seconds,
  storage: kind,
  only,
  keep,
  pauseMs,
}: FaultsArguments): Promise<number> {
  const commit = builtCommit()
  let failed = 0
  for (let seed = from; seed < from + runs; seed++) {
    const storage = storageOf(kind, seed)
    const begunMs = performance.now()
    if (process.stdout.isTTY)
      console.log(`seed ${seed} ${storage}: ${seconds} s of faults, and some more to start and to check`)
    const outcome = await runFaults({ seed, seconds, storage, only, keep, pauseMs, smallDisks: canMount })
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

function runMany(given: FaultsArguments, parallel: number): Promise<number> {
  const { seed: from, runs, seconds, storage, only, keep, pauseMs, minutes, results, before } = given
  const args = [
    ...['--seconds', String(seconds), '--storage', storage, '--only', only.join(',')],
    ...['--keep', keep, '--pause-ms', String(pauseMs)],
  ]
  return runBatch({ from, runs, parallel, minutes, results, before, args })
}

async function main(): Promise<number> {
  const given = faultsArguments(process.argv.slice(2))
  if ('help' in given) {
    console.log(`${USAGE}\n${faultsList()}`)
    return 0
  }
  if ('errors' in given) {
    for (const error of given.errors) console.error(`test:faults: ${error}`)
    return WRONG_ARGUMENTS
  }
  leftovers.watchInterrupts()
  if (given.check !== undefined) return checkAgain(given.check)
  const failed = await (given.parallel === undefined ? runAll(given) : runMany(given, given.parallel))
  return failed > 0 ? 1 : 0
}

process.exitCode = await main()
