/**
 * Thread: main. A file of flags: YAML or JSON, the flags' own names as keys. What is said on the command line wins; a key
 * that is no flag is an error that names the nearest one, as it is there.
 */
import { readFileSync } from 'node:fs'
import { parseYaml } from '../../api/yaml/yaml.js'
import { fileProblem } from './file-checks.js'
import { type Flag, type ParsedFlags, parseFlags } from './flags.js'

/** Reads the command line; the flags of the file that its --config names count where the command line says nothing. */
export function parseCommandLine(argv: readonly string[], flags: readonly Flag[]): ParsedFlags {
  const parsed = parseFlags(argv, flags)
  const file = parsed.values.get('config') ?? ''
  if (file === '') return parsed
  const read = configFileArguments(file)
  const fromFile = parseFlags(read.argv, flags)
  const inFile = (error: string): string => `${file}: ${error}`
  const whole = parseFlags(argv, flags, fromFile.given)
  return {
    ...whole,
    given: new Map([...fromFile.given, ...whole.given]),
    errors: [...whole.errors, ...read.errors, ...fromFile.errors.map(inFile)],
    foreign: [...new Set([...whole.foreign, ...fromFile.foreign])],
  }
}

/** The file as arguments, and an error for each key that cannot be one. */
function configFileArguments(file: string): { readonly argv: string[]; readonly errors: string[] } {
  const nothing = (error: string) => ({ argv: [], errors: [error] })
  const problem = fileProblem(file)
  if (problem !== undefined) return nothing(`--config: ${problem}`)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return nothing(`--config: ${JSON.stringify(file)} cannot be read: ${messageOf(error)}`)
  }
  let tree: unknown
  try {
    tree = parseYaml(text).value
  } catch (error) {
    return nothing(`--config: ${file} is neither YAML nor JSON: ${messageOf(error)}`)
  }
  if (tree === null || tree === undefined) return { argv: [], errors: [] }
  if (typeof tree !== 'object' || Array.isArray(tree))
    return nothing(`--config: ${file} must hold flags and their values, such as "secure-port: 6443"`)
  const argv: string[] = []
  const errors: string[] = []
  for (const [name, value] of Object.entries(tree)) {
    const text = argumentOf(value)
    if (text === undefined)
      errors.push(`${file}: ${JSON.stringify(name)} must be a text, a number, true or false, a list or a map of these`)
    else argv.push(`--${name}=${text}`)
  }
  return { argv, errors }
}

/** A value as it would stand on the command line: lists with commas, maps as key=value. */
function argumentOf(value: unknown): string | undefined {
  if (isScalar(value)) return String(value)
  if (Array.isArray(value)) return value.every(isScalar) ? value.join(',') : undefined
  if (typeof value !== 'object' || value === null) return value === null ? '' : undefined
  const pairs = Object.entries(value)
  return pairs.every(([, each]) => isScalar(each)) ? pairs.map(([key, each]) => `${key}=${each}`).join(',') : undefined
}

const isScalar = (value: unknown): value is string | number | bigint | boolean =>
  ['string', 'number', 'bigint', 'boolean'].includes(typeof value)

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
