/** Thread: any. The exact JSON reader: bigint for integers beyond 2^53, errors with their place, duplicate keys by path. */
import type { Json, JsonObject } from '../object.js'
import { JsonSyntaxError } from './syntax-error.js'

const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
/** A string without escapes and control characters. */
const PLAIN = /[ !#-[\]-\uffff]*"/y
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}
const MAX_INT64 = (1n << 63n) - 1n
/** JSON has no leading zeros: a longer integer is beyond int64, and making it exact would cost the square of its length. */
const INT64_CHARACTERS = 20
const MIN_INT64 = -(1n << 63n)

/** Sets a member without meeting the setter that `__proto__` has. */
export function setMember(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

export class JsonReader {
  readonly #text: string
  readonly #findDuplicates: boolean
  #at = 0
  readonly #path: (string | number)[] = []
  readonly duplicates: (string | number)[][] = []
  #wholeFloats: Map<object, Set<string>> | undefined

  constructor(text: string, options: { findDuplicates?: boolean } = {}) {
    this.#text = text
    this.#findDuplicates = options.findDuplicates ?? false
  }

  get wholeFloats(): ReadonlyMap<object, ReadonlySet<string>> | undefined {
    return this.#wholeFloats
  }

  /** The one value of the text. Its depth must have been checked: this recurses. */
  read(): Json {
    this.#skipSpace()
    const value = this.#value()
    this.#skipSpace()
    if (this.#at < this.#text.length) this.#unexpected('after top-level value')
    return value
  }

  #value(container?: object, key?: string): Json {
    const c = this.#text[this.#at]
    if (c === '{') return this.#object()
    if (c === '[') return this.#array()
    if (c === '"') return this.#string()
    if (c === 't') return this.#literal('true', true)
    if (c === 'f') return this.#literal('false', false)
    if (c === 'n') return this.#literal('null', null)
    return this.#number(container, key)
  }

  #object(): JsonObject {
    const object: JsonObject = {}
    this.#at++
    this.#skipSpace()
    if (this.#text[this.#at] === '}') {
      this.#at++
      return object
    }
    for (;;) {
      this.#skipSpace()
      if (this.#text[this.#at] !== '"') this.#unexpected('looking for beginning of object key string')
      const key = this.#string()
      this.#skipSpace()
      if (this.#text[this.#at] !== ':') this.#unexpected('after object key')
      this.#at++
      this.#skipSpace()
      if (this.#findDuplicates) {
        this.#path.push(key)
        if (Object.hasOwn(object, key)) this.duplicates.push([...this.#path])
        setMember(object, key, this.#value(object, key))
        this.#path.pop()
      } else setMember(object, key, this.#value(object, key))
      this.#skipSpace()
      const c = this.#text[this.#at]
      if (c !== ',' && c !== '}') this.#unexpected('after object key:value pair')
      this.#at++
      if (c === '}') return object
    }
  }

  #array(): Json[] {
    const array: Json[] = []
    this.#at++
    this.#skipSpace()
    if (this.#text[this.#at] === ']') {
      this.#at++
      return array
    }
    for (;;) {
      this.#skipSpace()
      this.#path.push(array.length)
      array.push(this.#value(array, String(array.length)))
      this.#path.pop()
      this.#skipSpace()
      const c = this.#text[this.#at]
      if (c !== ',' && c !== ']') this.#unexpected('after array element')
      this.#at++
      if (c === ']') return array
    }
  }

  #string(): string {
    PLAIN.lastIndex = this.#at + 1
    const start = this.#at + 1
    if (PLAIN.test(this.#text)) {
      this.#at = PLAIN.lastIndex
      return this.#text.slice(start, this.#at - 1)
    }
    return this.#escapedString()
  }

  #escapedString(): string {
    let text = ''
    this.#at++
    for (;;) {
      const c = this.#text[this.#at]
      if (c === undefined) this.#unexpected('')
      if (c === '"') break
      if (c < ' ') this.#unexpected('in string literal')
      this.#at++
      text += c === '\\' ? this.#escape() : c
    }
    this.#at++
    // Half a surrogate pair is no character: as in Go, it becomes U+FFFD.
    return text.replace(/[\ud800-\udfff]/gu, '\ufffd')
  }

  #escape(): string {
    const c = this.#text[this.#at]
    if (c === undefined) this.#unexpected('')
    if (c === 'u') {
      const hex = this.#text.slice(this.#at + 1, this.#at + 5)
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.#unexpected('in \\u hexadecimal character escape')
      this.#at += 5
      return String.fromCharCode(Number.parseInt(hex, 16))
    }
    const plain = ESCAPES[c]
    if (plain === undefined) this.#unexpected('in string escape code')
    this.#at++
    return plain
  }

  #literal<T extends Json>(text: string, value: T): T {
    for (const expected of text) {
      if (this.#text[this.#at] !== expected) this.#unexpected(`in literal ${text} (expecting '${expected}')`)
      this.#at++
    }
    return value
  }

  #number(container: object | undefined, key: string | undefined): number | bigint {
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    if (match === null)
      this.#unexpected(this.#text[this.#at] === '-' ? 'in numeric literal' : 'looking for beginning of value')
    this.#at = NUMBER.lastIndex
    const [text, fraction, exponent] = match
    const value = Number(text)
    if (fraction !== undefined || exponent !== undefined) {
      if (!Number.isFinite(value)) throw new JsonSyntaxError(`number ${text} is out of range`, this.#at - text.length)
      if (Number.isInteger(value) && container !== undefined && key !== undefined) this.#noteWholeFloat(container, key)
      return value
    }
    if (Number.isSafeInteger(value)) return value
    if (text.length > INT64_CHARACTERS) return this.#outsideInt64(value, container, key)
    const exact = BigInt(text)
    return exact >= MIN_INT64 && exact <= MAX_INT64 ? exact : this.#outsideInt64(value, container, key)
  }

  /** Too large for int64: a float to Go, and to us. */
  #outsideInt64(value: number, container: object | undefined, key: string | undefined): number {
    if (container !== undefined && key !== undefined) this.#noteWholeFloat(container, key)
    return value
  }

  #noteWholeFloat(container: object, key: string): void {
    this.#wholeFloats ??= new Map()
    const keys = this.#wholeFloats.get(container)
    if (keys === undefined) this.#wholeFloats.set(container, new Set([key]))
    else keys.add(key)
  }

  #skipSpace(): void {
    for (;;) {
      const c = this.#text.charCodeAt(this.#at)
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return
      this.#at++
    }
  }

  #unexpected(where: string): never {
    const offset = Buffer.byteLength(this.#text.slice(0, this.#at))
    const c = this.#text[this.#at]
    if (c === undefined) throw new JsonSyntaxError('unexpected end of JSON input', offset)
    throw new JsonSyntaxError(`invalid character ${JSON.stringify(c).replace(/^"|"$/g, "'")} ${where}`, offset)
  }
}
