/** Thread: any. The text of path elements: made, read, ordered and shown as Kubernetes does it. */
import type { Json, JsonObject } from '../object.js'
import { goJson } from './go-json.js'

export const fieldElement = (name: string): string => `f:${name}`

export const valueElement = (value: Json): string => `v:${scalarText(value)}`

/** Of the key fields of a list item, in any order. */
export function keyElement(keys: readonly (readonly [string, Json])[]): string {
  const sorted = [...keys].sort(([a], [b]) => compareText(a, b))
  return `k:{${sorted.map(([name, value]) => `${scalarText(name)}:${scalarText(value)}`).join(',')}}`
}

/** A scalar as Go writes it in JSON: `<`, `>` and `&` are escaped too. */
export function scalarText(value: Json): string {
  if (typeof value === 'string') return PLAIN.test(value) ? `"${value}"` : escapedText(value)
  if (typeof value === 'object' && value !== null) return goJson(value)
  return String(value)
}

const PLAIN = /^[\w .:/=@,;+*()[\]{}|~!?#$%^'`-]*$/

function escapedText(value: string): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** The same element in the one spelling that we compare; undefined when it is of an unknown kind. Throws when it is malformed. */
export function canonicalElement(element: string): string | undefined {
  if (element.charAt(1) !== ':') throw new SyntaxError(`missing colon: ${element}`)
  const rest = element.slice(2)
  switch (element.charAt(0)) {
    case 'f':
      return element
    case 'k':
      if (HUGE.test(rest)) return element
      return keyElement(Object.entries(readKeys(rest)).map(([name, value]) => [name, value ?? null]))
    case 'v':
      return HUGE.test(rest) ? element : valueElement(JSON.parse(rest) as Json)
    case 'i':
      if (!/^-?[0-9]+$/.test(rest)) throw new SyntaxError(`not an index: ${rest}`)
      return `i:${Number(rest)}`
    default:
      return undefined
  }
}

/** A whole number that JSON.parse would round; such an element is taken as it is. */
const HUGE = /\d{16}/

function readKeys(text: string): JsonObject {
  const keys: unknown = JSON.parse(text)
  if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) throw new SyntaxError(`not keys: ${text}`)
  return keys as JsonObject
}

/** A path as error messages show it: .spec.containers[name="a"].image */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join('')
}

export function elementText(element: string): string {
  const rest = element.slice(2)
  switch (element.charAt(0)) {
    case 'f':
      return `.${rest}`
    case 'k':
      return `[${Object.entries(readKeys(rest))
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${rest}]`
    default:
      return `[${rest}]`
  }
}

const KINDS = '.fkvi'

/** The order of siblings: fields by name, then keys, then values, then indexes; "." before all. */
export function compareElements(a: string, b: string): number {
  const kind = a.charCodeAt(0)
  if (kind !== b.charCodeAt(0)) return KINDS.indexOf(a.charAt(0)) - KINDS.indexOf(b.charAt(0))
  if (kind === 0x66) return compareText(a, b)
  if (kind === 0x6b) return comparePlainKeys(a, b) ?? compareKeys(a.slice(2), b.slice(2))
  if (kind === 0x76) return compareValues(JSON.parse(a.slice(2)) as Json, JSON.parse(b.slice(2)) as Json)
  return Number(a.slice(2)) - Number(b.slice(2))
}

/** Without reading them: when they first differ inside a string that has no escapes. Undefined when they do not. */
function comparePlainKeys(a: string, b: string): number | undefined {
  const length = Math.min(a.length, b.length)
  let inString = false
  for (let i = 2; i < length; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left === BACKSLASH || right === BACKSLASH) return undefined
    if (left === right) inString = left === QUOTE ? !inString : inString
    else if (!inString) return compareDigits(a, b, i)
    else if (left === QUOTE || right === QUOTE) return left === QUOTE ? -1 : 1
    else return compareUnits(left, right)
  }
  return a.length === b.length ? 0 : undefined
}

/** Of two whole numbers that first differ at a place: the one with more digits is larger. */
function compareDigits(a: string, b: string, at: number): number | undefined {
  if (!isDigit(a.charCodeAt(at)) && !isDigit(b.charCodeAt(at))) return undefined
  let start = at
  while (isDigit(a.charCodeAt(start - 1))) start--
  const [left, right] = [digitsEnd(a, start), digitsEnd(b, start)]
  if (left === undefined || right === undefined || a.charCodeAt(start - 1) === MINUS) return undefined
  return left - right || a.charCodeAt(at) - b.charCodeAt(at)
}

/** Undefined when it is no number, or one with a fraction or an exponent. */
function digitsEnd(text: string, start: number): number | undefined {
  let end = start
  while (isDigit(text.charCodeAt(end))) end++
  const after = text.charCodeAt(end)
  return end > start && (after === COMMA || after === BRACE) ? end : undefined
}

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39

const COMMA = 0x2c
const MINUS = 0x2d
const BRACE = 0x7d
const QUOTE = 0x22
const BACKSLASH = 0x5c

function compareKeys(a: string, b: string): number {
  const left = Object.entries(readKeys(a))
  const right = Object.entries(readKeys(b))
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [leftName, leftValue] = left[i]!
    const [rightName, rightValue] = right[i]!
    const order = compareText(leftName, rightName) || compareValues(leftValue ?? null, rightValue ?? null)
    if (order !== 0) return order
  }
  return left.length - right.length
}

const RANKS = ['number', 'string', 'boolean', 'object']

function compareValues(a: Json, b: Json): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  return RANKS.indexOf(typeof a) - RANKS.indexOf(typeof b)
}

/** As the bytes of UTF-8 sort. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = compareUnits(a.charCodeAt(i), b.charCodeAt(i))
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** UTF-16 sorts as UTF-8 does, but for surrogates: they stand for what comes after everything else. */
function compareUnits(a: number, b: number): number {
  if (a < 0xd800 || b < 0xd800) return a - b
  return (a < 0xe000 ? a + 0x10000 : a) - (b < 0xe000 ? b + 0x10000 : b)
}
