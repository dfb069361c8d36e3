/** Thread: any. The text of path elements: made, read, ordered and shown as Kubernetes does it. */
import type { Json, JsonObject } from '../../api/object.js'

export const fieldElement = (name: string): string => `f:${name}`

export const valueElement = (value: Json): string => `v:${scalarText(value)}`

/** Of the key fields of a list item; names in order. */
export function keyElement(keys: readonly (readonly [string, Json])[]): string {
  const sorted = keys.length < 2 ? keys : [...keys].sort(([a], [b]) => compareText(a, b))
  return `k:{${sorted.map(([name, value]) => `${stringText(name)}:${scalarText(value)}`).join(',')}}`
}

/** A scalar as Go writes it in JSON: `<`, `>` and `&` are escaped too. */
function scalarText(value: Json): string {
  if (typeof value === 'string') return stringText(value)
  if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  return String(value)
}

const ESCAPED = /[<>&\u2028\u2029]/
const ESCAPES = new RegExp(ESCAPED.source, 'g')

function stringText(value: string): string {
  const text = JSON.stringify(value)
  if (!ESCAPED.test(text)) return text
  return text.replace(ESCAPES, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The same element in the one spelling that we compare; undefined when it is of an unknown kind. Throws when it is malformed. */
export function canonicalElement(element: string): string | undefined {
  if (element.charAt(1) !== ':') throw new SyntaxError(`missing colon: ${element}`)
  const rest = element.slice(2)
  switch (element.charAt(0)) {
    case 'f':
      return element
    case 'k':
      return keyElement(Object.entries(readKeys(rest)).map(([name, value]) => [name, value ?? null]))
    case 'v':
      return valueElement(JSON.parse(rest) as Json)
    case 'i':
      if (!/^-?[0-9]+$/.test(rest)) throw new SyntaxError(`not an index: ${rest}`)
      return `i:${Number(rest)}`
    default:
      return undefined
  }
}

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
  if (kind === 0x6b) return compareKeys(a.slice(2), b.slice(2))
  if (kind === 0x76) return compareValues(JSON.parse(a.slice(2)) as Json, JSON.parse(b.slice(2)) as Json)
  return Number(a.slice(2)) - Number(b.slice(2))
}

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

/** Bytes of UTF-8 in order. UTF-16 units sort the same way, surrogates aside. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

const SURROGATE = /[\ud800-\udfff]/
