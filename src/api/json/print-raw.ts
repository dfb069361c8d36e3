/** Thread: any. JSON without a type: strings, keys and numbers as they are printed everywhere, and trees as they came. */
import type { Json } from '../object.js'

/** Go escapes these wherever they stand, and in JSON they stand in strings only. */
const HTML = /[<>&\u2028\u2029]/g

/** Most strings need no escapes, and finding that out takes a fifth of what JSON.stringify does with 130 characters. */
const PLAIN = /^[ !#-%'-;=?-[\]-~]*$/
export const printString = (text: string): string => (PLAIN.test(text) ? `"${text}"` : escapeHtml(JSON.stringify(text)))
const printRawString = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

export const escapeHtml = (text: string): string =>
  text.replace(HTML, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Keys as they are printed, with the colon: objects have few different ones, those of managed fields above all. It is emptied when it is
 * full, because keys may come from anybody, and long keys are not kept.
 */
class PrintedKeys {
  static readonly #MAX_KEYS = 4096
  static readonly #MAX_LENGTH = 128
  readonly #print: (key: string) => string
  readonly #known = new Map<string, string>()

  constructor(print: (key: string) => string) {
    this.#print = print
  }

  of(key: string): string {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const printed = `${this.#print(key)}:`
    if (key.length > PrintedKeys.#MAX_LENGTH) return printed
    if (this.#known.size >= PrintedKeys.#MAX_KEYS) this.#known.clear()
    this.#known.set(key, printed)
    return printed
  }
}

/** Those of this thread, as clients see them. */
export const keys = new PrintedKeys(printString)
/** As they are stored within raw JSON. */
const rawKeys = new PrintedKeys(printRawString)

/** Raw JSON keeps the order in which it came. */
export function printRaw(value: Json): string {
  if (typeof value === 'string') return printRawString(value)
  if (typeof value !== 'object' || value === null) return printScalar(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += text === '' ? printRaw(item ?? null) : `,${printRaw(item ?? null)}`
    return `[${text}]`
  }
  for (const key in value) {
    const member = value[key]
    if (member === undefined) continue
    text += text === '' ? rawKeys.of(key) + printRaw(member) : `,${rawKeys.of(key)}${printRaw(member)}`
  }
  return `{${text}}`
}

export const printScalar = (value: null | boolean | number | bigint | string): string =>
  typeof value === 'string' ? printString(value) : value === null ? 'null' : printNumber(value)

/** Go's form of a float is JavaScript's, but for numbers that JSON does not have. */
export const printNumber = (value: boolean | number | bigint): string =>
  typeof value === 'number' && !Number.isFinite(value) ? 'null' : String(value)
