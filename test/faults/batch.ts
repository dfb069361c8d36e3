/** Many runs without anybody looking: so many at a time, each a process of its own, and a line of JSON a run in a file of results. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { leftovers } from './rig/leftovers.js'
import type { StorageKind } from './rig/rig.js'

export type Verdict = 'no violation' | 'violation' | 'undecided' | 'broken'

export interface ResultLine {
  readonly seed: number
  readonly storage: StorageKind
  readonly commit: string
  readonly verdict: Verdict
  /** How often each fault was done. */
  readonly faults: Readonly<Record<string, number>>
  readonly requests: number
  readonly acknowledged: number
  readonly unanswered: number
  readonly watchEvents: number
  readonly seconds: number
  /** Processor time of the run with all of its processes; null where the system does not tell it. */
  readonly processorSeconds: number | null
  /** What was found, and where history and logs are: of runs that failed alone. */
  readonly found?: readonly string[]
  readonly kept?: string
}

export interface BatchOptions {
  readonly from: number
  readonly runs: number
  readonly parallel: number
  /** No run begins after so many minutes. */
  readonly minutes: number
  readonly results: string
  /** A shell command that must end well before each run begins, such as one that waits for a lock. */
  readonly before: string
  /** Of one run, besides its seed. */
  readonly args: readonly string[]
}

/** Gives the number of runs that were not without violation. */
export async function runBatch(options: BatchOptions): Promise<number> {
  const { from, runs, parallel, minutes, results } = options
  mkdirSync(path.dirname(results), { recursive: true })
  const endMs = performance.now() + minutes * 60_000
  let next = from
  let failed = 0
  const lane = async (): Promise<void> => {
    while (next < from + runs && performance.now() < endMs) {
      const seed = next++
      await ended(spawn('sh', ['-c', options.before], { stdio: 'inherit' }))
      const line = await oneRun(seed, options.args)
      if (line.verdict !== 'no violation') failed++
      appendFileSync(results, `${JSON.stringify(line)}\n`)
      console.log(`seed ${seed}: ${line.verdict}, ${line.seconds} s`)
    }
  }
  await Promise.all(Array.from({ length: parallel }, lane))
  return failed
}

/** The process of the run tells its line; one that ends without it is a broken run. */
async function oneRun(
  seed: number,
  args: readonly string[],
): Promise<ResultLine | Pick<ResultLine, 'seed' | 'verdict' | 'seconds'>> {
  const begunMs = performance.now()
  const child = fork(process.argv[1]!, ['--seed', String(seed), ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  let line: ResultLine | undefined
  child.on('message', (message) => {
    line = message as ResultLine
  })
  // An interrupt from a terminal reaches it as well; one that is sent to this process alone is passed on.
  const done = leftovers.add(() => void child.kill('SIGTERM'))
  await ended(child)
  done()
  return line ?? { seed, verdict: 'broken', seconds: Math.round((performance.now() - begunMs) / 1000) }
}

const ended = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('close', () => resolve()))
