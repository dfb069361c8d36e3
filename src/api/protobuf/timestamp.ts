/** Thread: any. Times between their RFC 3339 text and the seconds that stand on the wire. */

/** Go's zero time, 0001-01-01T00:00:00Z: in JSON it is null. */
const ZERO_SECONDS = -62135596800
/** 0000-01-01 and 9999-12-31: what RFC 3339 has years for. */
const MIN_SECONDS = -62167219200
const MAX_SECONDS = 253402300799

export interface Timestamp {
  readonly seconds: number
  readonly nanos: number
}

/** `0` at the place of every digit. */
const SHAPE = '0000-00-00T00:00:00'
const MICRO_LENGTH = '0000-00-00T00:00:00.000000Z'.length
const DAY = 86400

/** Of a canonical text, with seconds or with microseconds; undefined of any other. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const isMicro = text.length === MICRO_LENGTH
  if ((!isMicro && text.length !== SHAPE.length + 1) || !text.endsWith('Z')) return undefined
  for (let i = 0; i < SHAPE.length; i++) {
    const c = text.charCodeAt(i)
    if (SHAPE[i] === '0' ? c < 0x30 || c > 0x39 : text[i] !== SHAPE[i]) return undefined
  }
  const days = daysSince1970(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2))
  const seconds = days * DAY + digits(text, 11, 2) * 3600 + digits(text, 14, 2) * 60 + digits(text, 17, 2)
  if (!isMicro) return { seconds, nanos: 0 }
  return /^\.\d{6}Z$/.test(text.slice(19)) ? { seconds, nanos: digits(text, 20, 6) * 1000 } : undefined
}

function digits(text: string, at: number, count: number): number {
  let value = 0
  for (let i = at; i < at + count; i++) value = value * 10 + text.charCodeAt(i) - 0x30
  return value
}

/** Years counted from March, so that the leap day is the last of its year. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month < 3 ? year - 1 : year
  const dayOfYear = Math.floor((153 * (month + (month < 3 ? 9 : -3)) + 2) / 5) + day - 1
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
  return shifted * 365 + leapDays + dayOfYear - 719468
}

/** undefined when no year of RFC 3339 has it; null for the zero time. */
export function formatTimestamp(seconds: number, nanos: number, micro: boolean): string | null | undefined {
  const carried = seconds + (micro ? Math.floor(nanos / 1e9) : 0)
  if (!(carried >= MIN_SECONDS && carried <= MAX_SECONDS)) return undefined
  const rest = micro ? nanos - Math.floor(nanos / 1e9) * 1e9 : 0
  if (carried === ZERO_SECONDS && rest < 1000) return null
  const text = new Date(carried * 1000).toISOString().slice(0, 19)
  return micro ? `${text}.${String(Math.floor(rest / 1000)).padStart(6, '0')}Z` : `${text}Z`
}
