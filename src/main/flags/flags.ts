/** Thread: main. Command-line flags: a table in, values or all errors out. Names and forms are those of kube-apiserver. */

import { parseDurationMs } from '../../api/duration.js'
import { lookupTable } from '../../lib/lookup-table.js'
import { foreignFlag, foreignFlagNames, refusedFlag } from './foreign-flags.js'

export type FlagType = 'string' | 'boolean' | 'integer' | 'number' | 'duration' | 'bytes' | 'list' | 'map'

export interface Flag {
  readonly name: string
  readonly type: FlagType
  readonly default: string
  readonly group: string
  readonly help: string
}

/** Makes the flags of one group, for tables of many. */
export const flagsOf =
  (group: string) =>
  (name: string, type: FlagType, preset: string, help: string): Flag => ({ name, type, default: preset, group, help })

export type FlagValues = ReadonlyMap<string, string>

export interface ParsedFlags {
  readonly values: FlagValues
  /** The values that were given, without defaults. */
  readonly given: FlagValues
  readonly errors: readonly string[]
  /** Flags of kube-apiserver that do nothing here. */
  readonly foreign: readonly string[]
  readonly help: boolean
  readonly version: boolean
}

/**
 * `--name value`, `--name=value`, `--boolean`; `_` in a name is `-`. A list may be given several times or with commas.
 * `presets` stand before the flags' own defaults. A value that is not of its flag's type is reported and then left out, so
 * that nothing else is said about it.
 */
export function parseFlags(argv: readonly string[], flags: readonly Flag[], presets?: FlagValues): ParsedFlags {
  const byName = new Map(flags.map((flag) => [flag.name, flag]))
  const values = new Map<string, string>()
  const errors: string[] = []
  const foreign: string[] = []
  let help = false
  let version = false
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i]!
    if (argument === '--help' || argument === '-h') {
      help = true
      continue
    }
    if (VERBOSITY.test(argument)) {
      foreign.push('v')
      if (argument === '-v' && /^\d+$/.test(argv[i + 1] ?? '')) i++
      continue
    }
    if (!argument.startsWith('--')) {
      errors.push(`unexpected argument ${JSON.stringify(argument)}: flags start with --`)
      continue
    }
    const equals = argument.indexOf('=')
    const name = argument.slice(2, equals < 0 ? undefined : equals).replaceAll('_', '-')
    if (name === 'version') {
      version = argument !== '--version=false'
      continue
    }
    const flag = byName.get(name)
    if (flag === undefined && foreignFlag(name) !== undefined) {
      foreign.push(name)
      if (equals < 0 && !foreignFlag(name)!.boolean && argv[i + 1] !== undefined && !argv[i + 1]!.startsWith('--')) i++
      continue
    }
    if (flag === undefined) {
      const instead = refusedFlag(name)
      errors.push(
        instead === undefined
          ? `unknown flag --${name}${suggestion(name, flags)}`
          : `--${name} is not supported: ${instead}`,
      )
      // The next argument is the flag's value, unless it is a flag itself.
      if (equals < 0 && argv[i + 1] !== undefined && !argv[i + 1]!.startsWith('--')) i++
      continue
    }
    let value = equals < 0 ? undefined : argument.slice(equals + 1)
    if (value === undefined) {
      if (flag.type === 'boolean') value = 'true'
      else if (argv[i + 1] !== undefined && !argv[i + 1]!.startsWith('--')) value = argv[++i]!
      else {
        errors.push(`--${name} needs a value`)
        continue
      }
    }
    if (flag.type === 'boolean') value = BOOLEANS[value] ?? value
    const problem = checkValue(flag, value)
    if (problem !== undefined) {
      errors.push(problem)
      continue
    }
    const repeated = flag.type === 'list' || flag.type === 'map' ? values.get(name) : undefined
    values.set(name, repeated === undefined || repeated === '' ? value : `${repeated},${value}`)
  }
  const given = new Map(values)
  for (const { name, default: preset } of flags) if (!values.has(name)) values.set(name, presets?.get(name) ?? preset)
  return { values, given, errors, foreign: [...new Set(foreign)], help, version }
}

/** The only short flag of kube-apiserver beside -h. */
const VERBOSITY = /^-v(=?\d+)?$/

/** Booleans as Go reads them. */
const BOOLEANS: Readonly<Record<string, string>> = lookupTable({
  ...{ '1': 'true', t: 'true', T: 'true', TRUE: 'true', True: 'true' },
  ...{ '0': 'false', f: 'false', F: 'false', FALSE: 'false', False: 'false' },
})

/** Nothing that is counted here comes near it, and what is kept in 32 bits can hold it. */
const MAX_INTEGER = 2 ** 31 - 1
const MAX_VALUE_LENGTH = 64 * 1024
const SHOWN_LENGTH = 100

function checkValue(flag: Flag, value: string): string | undefined {
  if (value.length > MAX_VALUE_LENGTH)
    return `--${flag.name}: its value has ${value.length} characters, more than ${MAX_VALUE_LENGTH}`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these have no place in a path, a name or a message
  if (/[\u0000-\u001f\u007f]/.test(value)) return `--${flag.name}: ${shown(value)} has a control character in it`
  return checkType(flag, value)
}

const shown = (value: string): string =>
  JSON.stringify(value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value)

function checkType(flag: Flag, value: string): string | undefined {
  const bad = (wanted: string): string => `--${flag.name}: ${shown(value)} is not ${wanted}`
  switch (flag.type) {
    case 'boolean':
      return value === 'true' || value === 'false' ? undefined : bad('true or false')
    case 'integer':
      if (!/^-?\d+$/.test(value)) return bad('a whole number')
      return Math.abs(Number(value)) <= MAX_INTEGER ? undefined : bad(`a number of at most ${MAX_INTEGER}`)
    case 'number':
      if (!/^-?(\d+(\.\d*)?|\.\d+)$/.test(value)) return bad('a number such as 0.001')
      return Math.abs(Number(value)) <= MAX_INTEGER ? undefined : bad(`a number of at most ${MAX_INTEGER}`)
    case 'duration':
      return (parseDurationMs(value) ?? -1) < 0 ? bad('a duration such as 90s, 5m or 1h30m') : undefined
    case 'bytes':
      return parseBytes(value) === undefined ? bad('a size such as 512Mi or 2Gi') : undefined
    case 'map':
      return value === '' || value.split(',').every((pair) => pair.includes('='))
        ? undefined
        : bad('a list of key=value')
    default:
      return undefined
  }
}

const SIZES: Readonly<Record<string, number>> = lookupTable({
  '': 1,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  k: 1e3,
  M: 1e6,
  G: 1e9,
})

export function parseBytes(text: string): number | undefined {
  const match = /^(\d+)(Ki|Mi|Gi|k|M|G)?$/.exec(text)
  const bytes = match === null ? Number.NaN : Number(match[1]) * SIZES[match[2] ?? '']!
  return Number.isSafeInteger(bytes) ? bytes : undefined
}

function suggestion(name: string, flags: readonly Flag[]): string {
  const near = [...flags.map((flag) => flag.name), ...foreignFlagNames(), 'version', 'help']
    .map((known) => ({ name: known, distance: editDistance(name, known) }))
    .sort((a, b) => a.distance - b.distance)[0]
  return near !== undefined && near.distance <= Math.max(2, name.length / 3) ? `; did you mean --${near.name}?` : ''
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]!
}

/** Names of all admission plugins fit. */
const MAX_LINE = 1000
const MAX_LINES = 20

/** What is wrong as lines for a terminal: each a short one, and not too many, whatever was given. */
export function errorLines(errors: readonly string[]): string[] {
  const lines = errors
    .slice(0, MAX_LINES)
    .map((error) => (error.length > MAX_LINE ? `${error.slice(0, MAX_LINE)}…` : error))
  return errors.length > MAX_LINES ? [...lines, `and ${errors.length - MAX_LINES} more`] : lines
}

/** The help text of the flags, by group. */
export function describeFlags(flags: readonly Flag[]): string {
  const groups = [...new Set(flags.map((flag) => flag.group))]
  return groups
    .map((group) => {
      const lines = flags
        .filter((flag) => flag.group === group)
        .map((flag) => {
          const usage = flag.type === 'boolean' ? `--${flag.name}` : `--${flag.name} ${flag.type}`
          const preset = flag.default === '' ? '' : ` (default ${flag.default})`
          return `  ${usage}\n${wrapped(`${flag.help}${preset}`)}`
        })
      return `${group}:\n${lines.join('\n')}`
    })
    .join('\n\n')
}

const HELP_WIDTH = 100
const HELP_INDENT = ' '.repeat(8)

function wrapped(text: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!
    if (line === '') lines[lines.length - 1] = word
    else if (HELP_INDENT.length + line.length + 1 + word.length <= HELP_WIDTH)
      lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.map((line) => HELP_INDENT + line).join('\n')
}
