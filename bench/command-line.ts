/** What the smaller benches share: a command line that says what is wrong with it, and a folder that goes with the bench however it ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

const WRONG_ARGUMENTS = 2
const INTERRUPTED: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 }

interface Option {
  readonly about: string
  /** A preset that is a number has the option be a whole number from 1 on. */
  readonly preset: string
  /** Given without a value: the text is 'yes' then, and empty otherwise. */
  readonly isSwitch?: boolean
  /** The words that a list may have. */
  readonly words?: readonly string[]
}

/** Ends the process with --help, and with 2 when something is wrong. */
export function benchOptions<K extends string>(
  script: string,
  options: Readonly<Record<K, Option>>,
): Record<K, string> {
  const all = Object.entries<Option>(options)
  const fail = (errors: readonly string[]): never => {
    for (const error of errors) console.error(`${script}: ${error}`)
    console.error(`${script}: npm run ${script} -- --help tells more`)
    return process.exit(WRONG_ARGUMENTS)
  }
  let given: Record<string, string | boolean | undefined>
  try {
    given = parseArgs({
      options: {
        ...Object.fromEntries(
          all.map(([name, { isSwitch }]) => [name, { type: isSwitch ? 'boolean' : 'string' } as const]),
        ),
        help: { type: 'boolean', short: 'h' },
      },
    }).values
  } catch (error) {
    return fail([(error as Error).message])
  }
  if (given['help'] === true) {
    console.log(
      `Usage: npm run ${script} -- [arguments]\n\n${all.map(described).join('\n')}\n\nbench/README.md has the questions.`,
    )
    process.exit(0)
  }
  const values = all.map(
    ([name, { preset }]) => [name, given[name] === true ? 'yes' : String(given[name] ?? preset)] as const,
  )
  const errors = values.flatMap(([name, value]) => problem(name, value, options[name as K]))
  return errors.length > 0 ? fail(errors) : (Object.fromEntries(values) as Record<K, string>)
}

const described = ([name, { about, preset, words }]: [string, Option]): string =>
  `  --${name.padEnd(13)} ${about}${words === undefined ? '' : `: ${words.join(', ')}`}${preset === '' ? '' : ` (default ${preset})`}`

function problem(name: string, value: string, { preset, words }: Option): string[] {
  if (/^\d+$/.test(preset) && !/^[1-9]\d*$/.test(value)) return [`--${name} ${value}: a whole number from 1 on`]
  const foreign = words === undefined ? [] : value.split(',').filter((word) => word !== '' && !words.includes(word))
  return foreign.map((word) => `--${name} ${word}: there are ${words!.join(', ')}`)
}

const folders = new Set<string>()

/** A folder that is removed when the process ends, also by an interrupt. */
export function benchFolder(name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), `keelson-${name}-`))
  if (folders.size === 0) {
    process.on('exit', () => {
      for (const left of folders) rmSync(left, { recursive: true, force: true })
    })
    for (const [signal, code] of Object.entries(INTERRUPTED)) process.once(signal, () => process.exit(code))
  }
  folders.add(folder)
  return folder
}
