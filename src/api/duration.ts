/** Thread: any. Go's text of a duration (1h30m, 1.5s, 300ms) and the form in which Go prints it. */
import { lookupTable } from '../lib/lookup-table.js'
import { trimEndOf } from '../lib/trim-end.js'

export class DurationError extends Error {
  override readonly name = 'DurationError'
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = lookupTable({
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
})
const LIMIT = 1n << 63n
/** A number with more digits is beyond what 63 bits hold: it is not worth the arithmetic. */
const MAX_DIGITS = 30
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y

const invalidDuration = (text: string): DurationError =>
  new DurationError(`time: invalid duration ${JSON.stringify(text)}`)

/** In nanoseconds, as time.ParseDuration reads it; throws DurationError. */
export function parseDuration(text: string): bigint {
  const negative = text.startsWith('-')
  const body = text.replace(/^[+-]/, '')
  if (body === '0') return 0n
  let total = 0n
  let at = 0
  while (at < body.length) {
    PART.lastIndex = at
    const [part, whole = '', fraction = '', unit] = PART.exec(body) ?? []
    if (part === undefined || (whole === '' && fraction === '') || whole.length > MAX_DIGITS)
      throw invalidDuration(text)
    const nanos = UNIT_NANOS[unit!]!
    total += BigInt(whole || '0') * nanos + fractionNanos(fraction, Number(nanos))
    at = PART.lastIndex
  }
  // Of whole numbers in 64 bits there is one more below zero than above it.
  if (at === 0 || total > (negative ? LIMIT : LIMIT - 1n)) throw invalidDuration(text)
  return negative ? -total : total
}

/**
 * By floating-point numbers, as Go does it: 0.3333333333333333333h is twenty minutes, not a nanosecond less. Of the digits Go
 * takes as many as fit into 64 bits; the rest cannot make a nanosecond.
 */
function fractionNanos(fraction: string, nanos: number): bigint {
  if (fraction === '') return 0n
  const longest = fraction.slice(0, 19)
  const digits = BigInt(longest) > LIMIT ? longest.slice(0, 18) : longest
  return BigInt(Math.trunc(Number(digits) * (nanos / 10 ** digits.length)))
}

/** In milliseconds; undefined when the text is no duration. */
export function parseDurationMs(text: string): number | undefined {
  try {
    return Number(parseDuration(text)) / 1e6
  } catch (error) {
    if (error instanceof DurationError) return undefined
    throw error
  }
}

export function formatDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s'
  const sign = nanos < 0n ? '-' : ''
  const n = nanos < 0n ? -nanos : nanos
  if (n < 1_000_000_000n) {
    const [unit, size] = n < 1_000n ? ['ns', 1n] : n < 1_000_000n ? ['µs', 1_000n] : ['ms', 1_000_000n]
    return `${sign}${decimal(n, size as bigint)}${unit}`
  }
  const hours = n / UNIT_NANOS['h']!
  const minutes = (n / UNIT_NANOS['m']!) % 60n
  const seconds = `${decimal(n % UNIT_NANOS['m']!, 1_000_000_000n)}s`
  if (hours > 0n) return `${sign}${hours}h${minutes}m${seconds}`
  return minutes > 0n ? `${sign}${minutes}m${seconds}` : `${sign}${seconds}`
}

function decimal(value: bigint, unit: bigint): string {
  const rest = value % unit
  if (rest === 0n) return `${value / unit}`
  const digits = trimEndOf(rest.toString().padStart(unit.toString().length - 1, '0'), '0')
  return `${value / unit}.${digits}`
}
