/** Thread: any. Times and spans as text: RFC 3339, and Go's durations. */
import { trimEndOf } from '../../../lib/trim-end.js'
import { Duration, Timestamp } from './times.js'

/** Nanoseconds as the digits of a fraction, without zeros at the end. */
const fractionDigits = (nanos: number | bigint): string => trimEndOf(String(nanos).padStart(9, '0'), '0')

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/

/** Undefined when it is none. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = DATE_TIME.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const [, , , , , , , fraction = '', sign, hours = '0', minutes = '0'] = match
  if (Number(hours) > 24 || Number(minutes) > 59) return undefined
  const offset = (Number(hours) * 60 + Number(minutes)) * 60 * (sign === '-' ? -1 : 1)
  const seconds = date.getTime() / 1000 + hour * 3600 + minute * 60 + second - offset
  const nanos = Number(fraction.slice(0, 9).padEnd(9, '0'))
  return Timestamp.of(BigInt(seconds) * 1_000_000_000n + BigInt(nanos))
}

/** A day, as schemas of format `date` keep it. */
export const parseDate = (text: string): Timestamp | undefined => parseTimestamp(`${text}T00:00:00Z`)

export function formatTimestamp({ seconds, nanos }: Timestamp): string {
  const text = new Date(seconds * 1000).toISOString().slice(0, 19)
  const fraction = nanos === 0 ? '' : `.${fractionDigits(nanos)}`
  return `${text}${fraction}Z`
}

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])
const PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y

/** Undefined when it is none, or does not fit into 64 bits of nanoseconds. */
export function parseDuration(text: string): Duration | undefined {
  const negative = text.startsWith('-')
  let at = negative || text.startsWith('+') ? 1 : 0
  if (text.slice(at) === '0') return new Duration(0n)
  if (at === text.length || text.length > 100) return undefined
  let total = 0n
  while (at < text.length) {
    PART.lastIndex = at
    const match = PART.exec(text)
    if (match === null) return undefined
    const [all, whole, fraction = '', unit] = match
    if (whole === '' && fraction === '') return undefined
    const size = UNITS.get(unit!)!
    total += BigInt(whole || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length)
    at += all.length
  }
  return Duration.of(negative ? -total : total)
}

/** As `string(duration)` gives it: in seconds. */
export function formatDuration({ nanoseconds }: Duration): string {
  const sign = nanoseconds < 0n ? '-' : ''
  const absolute = nanoseconds < 0n ? -nanoseconds : nanoseconds
  const rest = absolute % 1_000_000_000n
  const fraction = rest === 0n ? '' : `.${fractionDigits(rest)}`
  return `${sign}${absolute / 1_000_000_000n}${fraction}s`
}
