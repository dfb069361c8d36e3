/** The command line of `npm run bench`: everything that is wrong with it at once, in a line each. */
import { parseArgs } from 'node:util'

const PARTS = [
  'start',
  'cold',
  'get',
  'list',
  'watch',
  'create',
  'policies',
  'webhooks',
  'controllers',
  'engines',
  'memory',
  'custom',
]
const STORAGES = ['embedded', 'etcd']
const SIZES = '100,1000,10000,50000'

export const USAGE = `Usage: npm run bench -- [arguments]

  --sizes LIST         numbers of pods (default ${SIZES})
  --seconds N          of each measurement (default 3)
  --only LIST          of ${PARTS.join(', ')} (default all)
  --storage LIST       of ${STORAGES.join(', ')}; etcd when it is on the PATH (default both)
  --flags=FLAGS        further flags of the server, such as --flags=--front-ends=2
  --peer URL           another API server beside it, in a namespace that is removed after
  --peer-token TOKEN   for it
  --resume             leaves out what was measured of this commit already: a run that was broken off goes on
  --page               measures nothing, writes docs/benchmarks.md from the last results
  --help

Results: a table, bench/results/latest.json, docs/benchmarks.md with its plots. A run of a part replaces what it measures
anew and keeps the rest.
`

export interface SuiteArguments {
  readonly sizes: readonly number[]
  readonly seconds: number
  readonly only: ReadonlySet<string>
  readonly storage: ReadonlySet<string>
  readonly flags: readonly string[]
  readonly peer: { readonly url: string; readonly token: string } | undefined
  readonly pageOnly: boolean
  readonly resume: boolean
  /** No part was left out: what was measured before does not count any more. */
  readonly whole: boolean
  readonly help: boolean
}

const list = (text: string): string[] => text.split(',').filter((item) => item !== '')

export function suiteArguments(argv: readonly string[]): SuiteArguments | { readonly errors: readonly string[] } {
  const text = (preset: string) => ({ type: 'string', default: preset }) as const
  const off = { type: 'boolean', default: false } as const
  let values: ReturnType<typeof parse>['values']
  const parse = () =>
    parseArgs({
      args: [...argv],
      options: {
        ...{ sizes: text(SIZES), seconds: text('3'), only: text(PARTS.join(',')), storage: text(STORAGES.join(',')) },
        ...{
          flags: text(''),
          peer: text(''),
          'peer-token': text(''),
          page: off,
          resume: off,
          help: { ...off, short: 'h' },
        },
      },
    })
  try {
    values = parse().values
  } catch (error) {
    return { errors: [(error as Error).message] }
  }
  const sizes = list(values.sizes).map(Number)
  const foreign = (given: string, known: readonly string[]) => list(given).filter((item) => !known.includes(item))
  const errors = [
    ...(sizes.length > 0 && sizes.every((size) => Number.isInteger(size) && size > 0)
      ? []
      : [`--sizes ${values.sizes}: whole numbers, separated by commas`]),
    ...(Number(values.seconds) >= 1 ? [] : [`--seconds ${values.seconds}: at least 1`]),
    ...foreign(values.only, PARTS).map((part) => `--only ${part}: there are ${PARTS.join(', ')}`),
    ...foreign(values.storage, STORAGES).map((name) => `--storage ${name}: there are ${STORAGES.join(', ')}`),
    ...(values.peer === '' || URL.canParse(values.peer)
      ? []
      : [`--peer ${values.peer}: an address such as https://host:6443`]),
  ]
  if (errors.length > 0) return { errors }
  return {
    sizes: sizes.sort((a, b) => a - b),
    seconds: Math.round(Number(values.seconds)),
    only: new Set(list(values.only)),
    storage: new Set(list(values.storage)),
    flags: values.flags.split(' ').filter((flag) => flag !== ''),
    peer: values.peer === '' ? undefined : { url: values.peer, token: values['peer-token'] },
    pageOnly: values.page,
    resume: values.resume,
    whole: values.only === PARTS.join(',') && values.storage === STORAGES.join(','),
    help: values.help,
  }
}
