/** Thread: any. Times as Kubernetes writes them: RFC 3339 in UTC, with seconds or with microseconds. */

export class TimeError extends Error {
  override readonly name = 'TimeError'
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/
/** Canonical already, and beyond doubt: days up to the 28th, which every month has, and not Go's zero time. */
const CANONICAL = /^[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/

/** Go's name for the form, which its errors tell. */
const LAYOUT = '2006-01-02T15:04:05Z07:00'
const ZERO_TIME_SECONDS = -62135596800

interface Instant {
  /** Since 1970. */
  readonly seconds: number
  readonly nanos: number
}

function parse(text: string, layout: string): Instant {
  const match = RFC3339.exec(text)
  if (match === null)
    throw new TimeError(`parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse`)
  const [, year, month, day, hour, minute, second] = match.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59)
    throw new TimeError(`parsing time ${JSON.stringify(text)}: out of range`)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  date.setUTCHours(hour, minute, second)
  const nanos = Number((match[7] ?? '').padEnd(9, '0').slice(0, 9))
  return { seconds: date.getTime() / 1000 - offsetSeconds(match[8]!, text), nanos }
}

const daysIn = (year: number, month: number): number => {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

function offsetSeconds(zone: string, text: string): number {
  if (zone === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4))
  if (hours > 24 || minutes > 60)
    throw new TimeError(`parsing time ${JSON.stringify(text)}: time zone offset out of range`)
  return (zone[0] === '-' ? -1 : 1) * (hours * 3600 + minutes * 60)
}

/** The canonical text of a Time; undefined for Go's zero time, which is printed as null. */
export function canonicalTime(text: string): string | undefined {
  if (CANONICAL.test(text)) return text
  const { seconds, nanos } = parse(text, LAYOUT)
  if (seconds === ZERO_TIME_SECONDS && nanos === 0) return undefined
  return formatTime(seconds * 1000)
}

/** The same of a MicroTime, which must come with exactly six digits of a second. */
export function canonicalMicroTime(text: string): string | undefined {
  const layout = '2006-01-02T15:04:05.000000Z07:00'
  const { seconds, nanos } = parse(text, layout)
  if (!/[.,]\d{6}(Z|[+-])/.test(text))
    throw new TimeError(`parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse`)
  if (seconds === ZERO_TIME_SECONDS && nanos === 0) return undefined
  return `${formatTime(seconds * 1000).slice(0, -1)}.${String(Math.trunc(nanos / 1000)).padStart(6, '0')}Z`
}

/**
 * The moment that a text names, in milliseconds since 1970; NaN when it is no time of RFC 3339. Date.parse() takes whatever looks like a
 * date: by it a token that ends "3000" would be good for a thousand years.
 */
export function timeMs(text: string): number {
  try {
    const { seconds, nanos } = parse(text, LAYOUT)
    return seconds * 1000 + Math.floor(nanos / 1e6)
  } catch (error) {
    if (error instanceof TimeError) return Number.NaN
    throw error
  }
}

/** Milliseconds since 1970 as a Time. */
export function formatTime(ms: number): string {
  return `${new Date(Math.floor(ms / 1000) * 1000).toISOString().slice(0, -5)}Z`
}
