/**
 * Thread: any. Quantities (500m, 1.5Gi, 12e6) as exact decimals, and the canonical text in which Kubernetes keeps them:
 * no fraction, the largest suffix that loses nothing, in the family of suffixes that the text came with.
 */

import { trimEndOf } from '../lib/trim-end.js'

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent'

export class QuantityError extends Error {
  override readonly name = 'QuantityError'
}

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
const DECIMAL_BY_EXPONENT = new Map([...DECIMAL_SUFFIXES].map(([suffix, exponent]) => [exponent, suffix]))
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']
const BINARY_BITS: ReadonlyMap<string, number> = new Map(BINARY_SUFFIXES.slice(1).map((s, i) => [s, 10 * (i + 1)]))

const PATTERN = /^([+-]?)(\d*)(?:\.(\d*))?((?:[eEinumkKMGTP]+[+-]?|[+-])\d+|[eEinumkKMGTP]*)$/
const MAX_INT64 = (1n << 63n) - 1n
const NANO = -9
/** More digits than this never took Kubernetes' short way, which keeps the text as it came. */
const SHORT_DIGITS = 18
/** Beyond it a number is a mistake or an attack: exact arithmetic on it would need megabytes. */
const MAX_EXPONENT = 1000
/** As many digits as an exponent may move them; Kubernetes has no limit and pays for each digit with all of them. */
const MAX_DIGITS = 1000

export class Quantity {
  /** The value is unscaled × 10^scale. */
  readonly #unscaled: bigint
  readonly #scale: number
  readonly format: QuantityFormat
  #text: string | undefined

  constructor(unscaled: bigint, scale: number, format: QuantityFormat, text?: string) {
    this.#unscaled = unscaled
    this.#scale = scale
    this.format = format
    this.#text = text
  }

  static ofInteger(value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), 0, format)
  }

  static ofMilli(value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), -3, format)
  }

  get sign(): -1 | 0 | 1 {
    return this.#unscaled === 0n ? 0 : this.#unscaled < 0n ? -1 : 1
  }

  compare(other: Quantity): -1 | 0 | 1 {
    const [a, b] = align(this, other)
    return a < b ? -1 : a > b ? 1 : 0
  }

  equals(other: Quantity): boolean {
    return this.compare(other) === 0
  }

  add(other: Quantity): Quantity {
    const [a, b, scale] = align(this, other)
    return new Quantity(a + b, scale, this.#formatWith(other))
  }

  subtract(other: Quantity): Quantity {
    const [a, b, scale] = align(this, other)
    return new Quantity(a - b, scale, this.#formatWith(other))
  }

  /** Zero takes the format of what is added to it. */
  #formatWith(other: Quantity): QuantityFormat {
    return this.sign === 0 ? other.format : this.format
  }

  negate(): Quantity {
    return new Quantity(-this.#unscaled, this.#scale, this.format)
  }

  /** In units of 10^scale, rounded away from zero; 0 for whole numbers, -3 for milli. */
  scaledValue(scale: number): bigint {
    return rescale(this.#unscaled, this.#scale, scale)
  }

  value(): bigint {
    return this.scaledValue(0)
  }

  milliValue(): bigint {
    return this.scaledValue(-3)
  }

  toNumber(): number {
    return Number(`${this.#unscaled}e${this.#scale}`)
  }

  toString(): string {
    this.#text ??= this.#canonical()
    return this.#text
  }

  #canonical(): string {
    if (this.#unscaled === 0n) return '0'
    if (this.format === 'BinarySI' && this.#magnitudeAtLeast1024() && this.#isWhole()) {
      let amount = this.value()
      let power = 0
      while (power < BINARY_SUFFIXES.length - 1 && amount % 1024n === 0n) {
        amount /= 1024n
        power++
      }
      return `${amount}${BINARY_SUFFIXES[power]}`
    }
    return this.#decimal()
  }

  #decimal(): string {
    const digits = `${this.#unscaled}`
    const kept = trimEndOf(digits, '0')
    const exact = this.#scale + digits.length - kept.length
    const whole = exact - (((exact % 3) + 3) % 3)
    const exponent = this.format === 'DecimalExponent' ? whole : Math.min(whole, 18)
    const amount = kept.padEnd(kept.length + exact - exponent, '0')
    if (this.format === 'DecimalExponent') return exponent === 0 ? `${amount}` : `${amount}e${exponent}`
    return `${amount}${DECIMAL_BY_EXPONENT.get(exponent) ?? ''}`
  }

  #magnitudeAtLeast1024(): boolean {
    const limit = new Quantity(1024n, 0, this.format)
    return (this.sign < 0 ? this.negate() : this).compare(limit) >= 0
  }

  #isWhole(): boolean {
    return this.#scale >= 0 || this.#unscaled % 10n ** BigInt(-this.#scale) === 0n
  }

  /** For align() below. */
  parts(): { unscaled: bigint; scale: number } {
    return { unscaled: this.#unscaled, scale: this.#scale }
  }
}

function align(a: Quantity, b: Quantity): [bigint, bigint, number] {
  const x = a.parts()
  const y = b.parts()
  const scale = Math.min(x.scale, y.scale)
  return [x.unscaled * 10n ** BigInt(x.scale - scale), y.unscaled * 10n ** BigInt(y.scale - scale), scale]
}

/** unscaled × 10^from in units of 10^to, rounded away from zero. */
function rescale(unscaled: bigint, from: number, to: number): bigint {
  if (from >= to) return unscaled * 10n ** BigInt(from - to)
  const divisor = 10n ** BigInt(to - from)
  const quotient = unscaled / divisor
  if (unscaled % divisor === 0n) return quotient
  return unscaled < 0n ? quotient - 1n : quotient + 1n
}

export function parseQuantity(text: string): Quantity {
  if (text === '0') return new Quantity(0n, 0, 'DecimalSI', text)
  const match = PATTERN.exec(text)
  if (match === null || (match[2] === '' && (match[3] ?? '') === '')) throw wrongFormat()
  const [, sign, whole, fraction = '', suffix] = match as unknown as [
    string,
    string,
    string,
    string | undefined,
    string,
  ]
  const { exponent, bits, format } = interpretSuffix(suffix)
  const numerator = whole.replace(/^0+/, '') || '0'
  if (numerator.length + fraction.length > MAX_DIGITS) throw outOfRange()
  const digits = BigInt(numerator + fraction)
  const scale = exponent - fraction.length
  const signed = sign === '-' ? -digits : digits
  const text2 = keepsText(text, { numerator, fraction, scale, bits, format, digits }) ? text : undefined
  if (bits === 0 && scale >= NANO) return new Quantity(signed, scale, format, text2)
  return limited(signed << BigInt(bits), scale, format, text2)
}

/** Finer than nano is rounded away from zero; binary quantities stop at the largest int64. */
function limited(unscaled: bigint, scale: number, format: QuantityFormat, text: string | undefined): Quantity {
  const tooFine = scale < NANO
  const value = tooFine ? rescale(unscaled, scale, NANO) : unscaled
  const at = tooFine ? NANO : scale
  if (format !== 'BinarySI') return new Quantity(value, at, format, tooFine ? undefined : text)
  const plain = new Quantity(value, at, format, text)
  const most = new Quantity(MAX_INT64, 0, format)
  if (plain.compare(most) > 0) return most
  const belowOne = value > 0n && plain.compare(new Quantity(1n, 0, format)) < 0
  return belowOne ? new Quantity(value, at, 'DecimalSI') : plain
}

interface ParsedParts {
  numerator: string
  fraction: string
  scale: number
  bits: number
  format: QuantityFormat
  digits: bigint
}

/** What Kubernetes takes for canonical already it prints as it came, a plus sign or 1.500 included. */
function keepsText(text: string, { numerator, fraction, scale, bits, format, digits }: ParsedParts): boolean {
  if (text === '' || scale < NANO) return false
  if (format === 'BinarySI') {
    const room = 15 - numerator.length - Math.trunc((bits * 3) / 10) - 1
    return fraction === '' && room >= 0 && digits % 8n !== 0n
  }
  const shifted = numerator + fraction
  return shifted.length <= SHORT_DIGITS && scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0')
}

function interpretSuffix(suffix: string): { exponent: number; bits: number; format: QuantityFormat } {
  const decimal = DECIMAL_SUFFIXES.get(suffix)
  if (decimal !== undefined) return { exponent: decimal, bits: 0, format: 'DecimalSI' }
  const bits = BINARY_BITS.get(suffix)
  if (bits !== undefined) return { exponent: 0, bits, format: 'BinarySI' }
  const exponent = /^[eE]([+-]?\d+)$/.exec(suffix)?.[1]
  if (exponent === undefined) throw new QuantityError("unable to parse quantity's suffix")
  if (Math.abs(Number(exponent)) > MAX_EXPONENT) throw outOfRange()
  return { exponent: Number(exponent), bits: 0, format: 'DecimalExponent' }
}

const outOfRange = (): QuantityError => new QuantityError('numeric part of quantity is out of range')
const wrongFormat = (): QuantityError =>
  new QuantityError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")

/** The text in which Kubernetes keeps a quantity. */
export function canonicalQuantity(text: string): string {
  // By far the most have at most three digits, and those are canonical: 100m, 64Mi, 1.
  if (/^[1-9]\d{0,2}(?:m|k|M|G|T|[KMGT]i|)$/.test(text)) return text
  return parseQuantity(text).toString()
}
