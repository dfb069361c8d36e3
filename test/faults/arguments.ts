/** The command line of `npm run test:faults`: everything that is wrong with it at once, in a line each. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { FAULTS } from './rig/faults.js'
import type { StorageKind } from './rig/rig.js'

const STORAGES = ['etcd', 'embedded', 'both']
/** A run begins and ends with a second without faults. */
const LEAST_SECONDS = 3

export const USAGE = `Usage: npm run test:faults -- [arguments]

  --seed N           of the first run (default 1); the next ones follow
  --runs N           (default 1)
  --seconds N        of each (default 60)
  --storage KIND     etcd: three members and two servers; embedded: one server; both: even seeds on etcd, odd ones embedded (default etcd)
  --only LIST        of the faults below, instead of all
  --pause-ms N       of a client between two requests (default 60)
  --keep FOLDER      for history, logs and verdict of runs that failed (default build/faults)
  --check FILE       checks a kept history.jsonl again, and runs nothing
  --help

Many runs without anybody looking:
  --parallel N       so many at a time, each a process of its own
  --minutes N        no run begins after so many (default 600)
  --results FILE     a line of JSON for each run (default build/faults/results.jsonl)
  --before COMMAND   must end well before each run begins

The exit code is 1 when anything was found, 2 for wrong arguments. As root, data lies on small file systems that can be filled.
`

export const faultsList = (): string =>
  `Faults:\n${FAULTS.map(({ name, needsEtcd, needsTls }) => `  ${name}${needsEtcd ? ' (etcd)' : ''}${needsTls ? ' (TLS)' : ''}`).join('\n')}\n`

export interface FaultsArguments {
  readonly seed: number
  readonly runs: number
  readonly seconds: number
  readonly storage: string
  readonly only: readonly string[]
  readonly pauseMs: number
  readonly keep: string
  readonly check: string | undefined
  /** Undefined: one run after the other, in this process. */
  readonly parallel: number | undefined
  readonly minutes: number
  readonly results: string
  readonly before: string
}

export function faultsArguments(
  argv: readonly string[],
): FaultsArguments | { readonly errors: readonly string[] } | { readonly help: true } {
  const text = (preset: string) => ({ type: 'string', default: preset }) as const
  const parse = () =>
    parseArgs({
      args: [...argv],
      options: {
        ...{ seed: text('1'), runs: text('1'), seconds: text('60'), storage: text('etcd'), only: text('') },
        ...{ 'pause-ms': text('60'), keep: text('build/faults'), minutes: text('600'), before: text('true') },
        ...{ results: text('build/faults/results.jsonl'), parallel: { type: 'string' }, check: { type: 'string' } },
        help: { type: 'boolean', default: false, short: 'h' },
      },
    }).values
  let values: ReturnType<typeof parse>
  try {
    values = parse()
  } catch (error) {
    return { errors: [(error as Error).message] }
  }
  if (values.help) return { help: true }
  const only = values.only.split(',').filter((name) => name !== '')
  const errors = [
    ...wrongNumbers(values),
    ...(STORAGES.includes(values.storage) ? [] : [`--storage ${values.storage}: there are ${STORAGES.join(', ')}`]),
    ...(values.check === undefined || existsSync(values.check)
      ? []
      : [`--check ${values.check}: there is no such file`]),
    ...wrongFaults(only, values.storage),
    ...(values.check === undefined && values.storage !== 'embedded' && !hasEtcd() ? ['etcd is not on the PATH'] : []),
  ]
  if (errors.length > 0) return { errors }
  return {
    ...{ seed: Number(values.seed), runs: Number(values.runs), seconds: Number(values.seconds) },
    ...{ storage: values.storage, only, pauseMs: Number(values['pause-ms']), keep: values.keep, check: values.check },
    parallel: values.parallel === undefined ? undefined : Number(values.parallel),
    ...{ minutes: Number(values.minutes), results: values.results, before: values.before },
  }
}

/** With `both`, by the seed. */
export function storageOf(storage: string, seed: number): StorageKind {
  if (storage === 'both') return seed % 2 === 0 ? 'etcd' : 'embedded'
  return storage as StorageKind
}

function wrongNumbers(values: Readonly<Record<string, unknown>>): string[] {
  const least = { seed: 0, runs: 1, seconds: LEAST_SECONDS, 'pause-ms': 0, minutes: 1, parallel: 1 }
  return Object.entries(least).flatMap(([name, from]) => {
    const given = values[name]
    if (given === undefined || (/^\d+$/.test(String(given)) && Number(given) >= from)) return []
    return [`--${name} ${given}: a whole number from ${from} on`]
  })
}

function wrongFaults(only: readonly string[], storage: string): string[] {
  const unknown = only.filter((name) => FAULTS.every((fault) => fault.name !== name))
  if (unknown.length > 0) return unknown.map((name) => `--only ${name}: there is no such fault; --help names them`)
  const here = FAULTS.filter(({ name, needsEtcd }) => only.includes(name) && (storage === 'etcd' || !needsEtcd))
  return only.length > 0 && here.length === 0 && storage !== 'etcd'
    ? [`--only ${only.join(',')}: these need etcd (--storage etcd)`]
    : []
}

const hasEtcd = (): boolean => spawnSync('etcd', ['--version'], { stdio: 'ignore' }).error === undefined
