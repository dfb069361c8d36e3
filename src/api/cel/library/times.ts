/** Thread: any. What a clock or a calendar shows at a moment, in UTC or in a time zone; hours and less of a duration. */
import type { FunctionDeclaration, Library } from '../function-declaration.js'
import { DURATION, INT, STRING, TIMESTAMP } from '../types.js'
import type { Duration, Timestamp } from '../values/times.js'
import { CelError, type CelValue, intValue } from '../values/value.js'
import { goQuote } from './go-numbers.js'
import { declare, method } from './overload.js'
import { zoneOffset } from './time-zones.js'

const DAY_MS = 86_400_000

/** The date whose UTC fields are those that a clock in the zone shows. */
function localDate({ seconds }: Timestamp, zone: string): Date | CelError {
  const offset = offsetSeconds(seconds, zone)
  return offset instanceof CelError ? offset : new Date((seconds + offset) * 1000)
}

function offsetSeconds(seconds: number, zone: string): number | CelError {
  const colon = zone.indexOf(':')
  if (colon < 0) return zoneOffset(zone, seconds) ?? new CelError(`unknown time zone ${zone}`)
  const hours = wholeNumber(zone.slice(0, colon))
  const minutes = wholeNumber(zone.slice(colon + 1))
  if (hours instanceof CelError) return hours
  if (minutes instanceof CelError) return minutes
  return (hours * 60 + (zone.startsWith('-') ? -minutes : minutes)) * 60
}

/** So many digits that no offset has more; the sum stays a time that can be counted. */
const WHOLE = /^[+-]?\d{1,6}$/
const wholeNumber = (text: string): number | CelError =>
  WHOLE.test(text) ? Number(text) : new CelError(`strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`)

function startOfYear(date: Date): number {
  const start = new Date(0)
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1)
  return start.getTime()
}

/** By name: the name of the overload, what it reads, and the name with a zone when it is not the usual one. */
const FIELDS: readonly (readonly [string, string, (date: Date, at: Timestamp) => number, string?])[] = [
  ['getFullYear', 'timestamp_to_year', (date) => date.getUTCFullYear()],
  ['getMonth', 'timestamp_to_month', (date) => date.getUTCMonth()],
  ['getDayOfYear', 'timestamp_to_day_of_year', (date) => Math.floor((date.getTime() - startOfYear(date)) / DAY_MS)],
  ['getDayOfMonth', 'timestamp_to_day_of_month', (date) => date.getUTCDate() - 1],
  ['getDate', 'timestamp_to_day_of_month_1_based', (date) => date.getUTCDate()],
  ['getDayOfWeek', 'timestamp_to_day_of_week', (date) => date.getUTCDay()],
  ['getHours', 'timestamp_to_hours', (date) => date.getUTCHours()],
  ['getMinutes', 'timestamp_to_minutes', (date) => date.getUTCMinutes()],
  ['getSeconds', 'timestamp_to_seconds', (date) => date.getUTCSeconds(), 'timestamp_to_seconds_tz'],
  ['getMilliseconds', 'timestamp_to_milliseconds', (_date, { nanos }) => Math.floor(nanos / 1_000_000)],
]

const accessor = ([name, id, read, zoned]: (typeof FIELDS)[number]): FunctionDeclaration => {
  const inZone = (at: Timestamp, zone: string): CelValue => {
    const date = localDate(at, zone)
    return date instanceof CelError ? date : read(date, at)
  }
  return declare(
    name,
    method(id, [TIMESTAMP], INT, (at: Timestamp) => inZone(at, 'UTC')),
    method(zoned ?? `${id}_with_tz`, [TIMESTAMP, STRING], INT, inZone),
  )
}

const UNITS: readonly (readonly [string, string, bigint])[] = [
  ['getHours', 'duration_to_hours', 3_600_000_000_000n],
  ['getMinutes', 'duration_to_minutes', 60_000_000_000n],
  ['getSeconds', 'duration_to_seconds', 1_000_000_000n],
  ['getMilliseconds', 'duration_to_milliseconds', 1_000_000n],
]

export const times: Library = {
  functions: [
    ...FIELDS.map(accessor),
    ...UNITS.map(([name, id, unit]) =>
      declare(
        name,
        method(id, [DURATION], INT, (span: Duration) => intValue(span.nanoseconds / unit)),
      ),
    ),
  ],
}
