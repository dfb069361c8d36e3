/**
 * Thread: any. YAML to and from JSON trees by the rules of Kubernetes, which are YAML 1.1's: `y` is true, 0777 is octal,
 * keys become text, integers of 64 bits survive, times stay text.
 */
import {
  boolYaml11Tag,
  constructFromEvents,
  DUMP_SCHEMA,
  defineScalarTag,
  dump,
  type Event,
  intCoreTag,
  intYaml11Tag,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  nullYaml11Tag,
  parseEvents,
  Schema,
  seqTag,
  strTag,
  YAMLException,
} from 'js-yaml'
import { DecodedSizeError, MAX_DECODED_VALUES } from '../decoded-size.js'
import { setMember } from '../json/reader.js'
import type { Json, JsonObject } from '../object.js'
import { isTooLarge, valuesOf } from './size-probe.js'

export class YamlError extends Error {
  override readonly name = 'YamlError'
}

export interface ParsedYaml {
  readonly value: Json
  /** Keys that were given twice: errors when strict, warnings when not. The last one counts. */
  readonly strictErrors: readonly string[]
}

const MAX_INT64 = (1n << 63n) - 1n
const MAX_DIGITS = 100
const MAX_UINT64 = (1n << 64n) - 1n

/** Go's integers: 0x, 0o, 0b and a leading 0 choose the base, underscores may stand between digits. */
const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|0|[1-9][0-9_]*)$/
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/

function resolveInteger(source: string): number | bigint | typeof NOT_RESOLVED {
  const match = INTEGER.exec(source)
  if (match === null) return NOT_RESOLVED
  const digits = match[2]!.replaceAll('_', '')
  // No base writes 64 bits in more.
  if (digits.length > MAX_DIGITS) return NOT_RESOLVED
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits
  const value = match[1] === '-' ? -BigInt(octal) : BigInt(octal)
  if (value > MAX_UINT64 || value < -MAX_INT64 - 1n) return NOT_RESOLVED
  const exact = Number(value)
  if (Number.isSafeInteger(exact)) return exact
  return value <= MAX_INT64 ? value : exact
}

const DIGITS = '0123456789'
const integerTag = defineScalarTag<number | bigint>('tag:yaml.org,2002:int', {
  implicit: true,
  implicitFirstChars: ['-', '+', ...DIGITS],
  resolve: resolveInteger,
  // From 1e21 on numbers are written with an exponent, which is no integer to any reader: those are floats. A zero has no
  // sign, as in JSON.
  identify: (data: unknown) => typeof data === 'bigint' || (Number.isInteger(data) && !String(data).includes('e')),
  represent: (data: unknown) => String(data),
})
const floatTag = defineScalarTag<number>('tag:yaml.org,2002:float', {
  implicit: true,
  implicitFirstChars: ['-', '+', '.', ...DIGITS],
  resolve: (source) => {
    const value = FLOAT.test(source) ? Number(source) : Number.NaN
    return Number.isFinite(value) ? value : NOT_RESOLVED
  },
  identify: (data: unknown) => typeof data === 'number',
  represent: (data: unknown) => String(data),
})

const SCHEMA = new Schema([strTag, seqTag, mapTag, nullYaml11Tag, boolYaml11Tag, integerTag, floatTag, mergeTag])

/** For printing: text that any reader of YAML would take for an integer is quoted. */
const printedIntegerTag = defineScalarTag<number | bigint>('tag:yaml.org,2002:int', {
  ...integerTag,
  resolve: (source, isExplicit, tagName) => {
    for (const { resolve } of [integerTag, intYaml11Tag, intCoreTag]) {
      const value = resolve(source, isExplicit, tagName)
      if (value !== NOT_RESOLVED) return value
    }
    return NOT_RESOLVED
  },
})
const PRINT_SCHEMA = DUMP_SCHEMA.withTags(printedIntegerTag)

/** An alias is a reference, a tree has copies: this many values for each byte of text, and no more. */
const VALUES_PER_BYTE = 2
const MIN_VALUES = 100_000
const MAX_DEPTH = 1000
const MAX_ALIASES = 10_000

/** Reads the first document, as Kubernetes does; nothing at all is null. Throws YamlError, DecodedSizeError. */
export function parseYaml(all: string): ParsedYaml {
  const source = firstDocument(all)
  if (isTooLarge(source, MAX_DEPTH)) throw new DecodedSizeError()
  try {
    const events = parseEvents(source, { maxDepth: MAX_DEPTH })
    if (valuesOf(events) > MAX_DECODED_VALUES) throw new DecodedSizeError()
    return construct(source, events)
  } catch (error) {
    throw asYamlError(error)
  }
}

function construct(source: string, events: Event[]): ParsedYaml {
  const options = { source, maxAliases: MAX_ALIASES, schema: SCHEMA }
  try {
    const [document = null] = constructFromEvents(events, { ...options, json: false })
    return { value: toTree(document, source.length), strictErrors: [] }
  } catch (error) {
    if (!(error instanceof YAMLException) || !error.reason.includes('duplicated mapping key')) throw error
    const strictErrors: string[] = []
    const schema = SCHEMA.withTags(tellingTag(lineOf(error), strictErrors))
    const [document = null] = constructFromEvents(events, { ...options, schema, json: true })
    return { value: toTree(document, source.length), strictErrors }
  }
}

/** A line that ends a document, or begins the next one. */
const SEPARATOR = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm
/** What may stand before the line that begins the first one. */
const PRELUDE = /^(?:[ \t\uFEFF]*(?:#[^\n]*)?|%[^\n]*)\r?$/

/** The documents of a text, each to be parsed by itself; a document without content is among them. */
export const yamlDocuments = (text: string): string[] => text.split(SEPARATOR)

/** Without the documents that follow it: nobody reads them. */
function firstDocument(text: string): string {
  for (const { 0: line, index } of text.matchAll(SEPARATOR)) {
    const isBeginning =
      line === '---' &&
      text
        .slice(0, index)
        .split('\n')
        .every((before) => PRELUDE.test(before))
    if (!isBeginning) return text.slice(0, index)
  }
  return text
}

/** Tells of every key that is given again: the first reading ends at the first one, whose line it knows. */
function tellingTag(firstLine: number, strictErrors: string[]): typeof mapTag {
  const report = (key: unknown): void => {
    const told = `key ${JSON.stringify(key)} already set in map`
    // Numbered, because the same key may come twice in several places.
    strictErrors.push(strictErrors.length === 0 ? `line ${firstLine}: ${told}` : `${strictErrors.length + 1}. ${told}`)
  }
  return {
    ...mapTag,
    addPair: (map, key, value) => {
      if (mapTag.has(map, key)) report(key)
      return mapTag.addPair(map, key, value)
    },
  }
}

const lineOf = (error: YAMLException): number => (error.mark?.line ?? 0) + 1

function asYamlError(error: unknown): unknown {
  if (error instanceof YAMLException) return new YamlError(`yaml: line ${lineOf(error)}: ${error.reason}`)
  return error instanceof RangeError ? new YamlError(`yaml: ${error.message}`) : error
}

/** A tree of its own, without references that a later change would show in two places. */
function toTree(value: unknown, length: number): Json {
  let values = 0
  let left = Math.max(MIN_VALUES, length * VALUES_PER_BYTE)
  const copy = (at: unknown): Json => {
    if (++values > MAX_DECODED_VALUES) throw new DecodedSizeError()
    if (--left < 0) throw new YamlError('yaml: document contains excessive aliasing')
    if (Array.isArray(at)) return at.map(copy)
    if (typeof at !== 'object' || at === null) return at as Json
    const object: JsonObject = {}
    for (const [key, item] of Object.entries(at)) setMember(object, key, copy(item))
    return object
  }
  return copy(value)
}

/** A tree as the YAML that Kubernetes answers with: keys by name, lists at the indent of their key. */
export function printYaml(value: Json): string {
  return dump(value, {
    schema: PRINT_SCHEMA,
    sortKeys: true,
    lineWidth: -1,
    noRefs: true,
    seqNoIndent: true,
    skipInvalid: true,
    quoteStyle: 'double',
  })
}
