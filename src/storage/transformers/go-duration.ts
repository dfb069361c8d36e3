/** Thread: any. */
import { lookupTable } from '../../lib/lookup-table.js'

const UNITS_MS: Readonly<Record<string, number>> = lookupTable({
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
})
const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y

/** Go's duration text (`1h30m`, `-1.5s`, `0`) in milliseconds; undefined when it is not one. */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1
  const body = text.replace(/^[-+]/, '')
  if (body === '0') return 0
  let totalMs = 0
  let at = 0
  while (at < body.length) {
    PART.lastIndex = at
    const part = PART.exec(body)
    if (part === null) return undefined
    totalMs += Number(part[1]) * UNITS_MS[part[2]!]!
    at = PART.lastIndex
  }
  return at === 0 ? undefined : sign * totalMs
}
