/** Thread: any. Times between their RFC 3339 text and the seconds that stand on the wire. */

const SHAPE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{6}))?Z$/
/** Go's zero time, 0001-01-01T00:00:00Z: in JSON it is null. */
const ZERO_SECONDS = -62135596800
/** 0000-01-01 and 9999-12-31: what RFC 3339 has years for. */
const MIN_SECONDS = -62167219200
const MAX_SECONDS = 253402300799

export interface Timestamp {
  readonly seconds: number
  readonly nanos: number
}

/** Of a canonical text; undefined of any other. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const match = SHAPE.exec(text)
  if (match === null) return undefined
  const ms = Date.parse(text.length === 20 ? text : `${text.slice(0, 19)}Z`)
  if (Number.isNaN(ms)) return undefined
  return { seconds: ms / 1000, nanos: match[7] === undefined ? 0 : Number(match[7]) * 1000 }
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
