/** Thread: any. Go's text of a duration (1h30m, 1.5s, 300ms) and the form in which Go prints it. */
import { lookupTable } from '../lib/lookup-table.js'

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
const MAX = (1n << 63n) - 1n

export function parseDuration(text: string): bigint {
  const sign = text.startsWith('-') ? -1n : 1n
  const body = text.replace(/^[+-]/, '')
  if (body === '0') return 0n
  const parts = /^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(body)
    ? body.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g)
    : undefined
  if (parts === undefined) throw new DurationError(`time: invalid duration ${JSON.stringify(text)}`)
  let total = 0n
  for (const [, whole, fraction = '', unit] of parts) {
    const nanos = UNIT_NANOS[unit!]!
    total += BigInt(whole || '0') * nanos + (BigInt(fraction || '0') * nanos) / 10n ** BigInt(fraction.length)
  }
  if (total > MAX) throw new DurationError(`time: invalid duration ${JSON.stringify(text)}`)
  return sign * total
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
  const digits = rest
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '')
  return `${value / unit}.${digits}`
}
