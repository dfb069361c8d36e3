/** Thread: any. Durations as strings of format `duration` write them: as Go does, or in words such as `3 days`. */
import { DurationError, parseDuration } from '../duration.js'

const WORDS = /\d+|[A-Za-zµ]+|[\t\n\f\r ]+|[^\dA-Za-zµ\t\n\f\r ]+/g
const SECOND = 1_000_000_000n
const HOUR = 3600n * SECOND
/** Units by their short names, and by how their long names begin. */
const UNITS: readonly { readonly names: readonly string[]; readonly beginning: string; readonly nanos: bigint }[] = [
  { names: ['ns'], beginning: 'nano', nanos: 1n },
  { names: ['us', 'µs'], beginning: 'micro', nanos: 1000n },
  { names: ['ms'], beginning: 'milli', nanos: 1_000_000n },
  { names: ['s'], beginning: 'sec', nanos: SECOND },
  { names: ['m'], beginning: 'min', nanos: 60n * SECOND },
  { names: ['h', 'hr'], beginning: 'hour', nanos: HOUR },
  { names: ['d'], beginning: 'day', nanos: 24n * HOUR },
  { names: ['w', 'wk'], beginning: 'week', nanos: 168n * HOUR },
]
const MAX_INT64 = (1n << 63n) - 1n
/** A longer number is no int64, whatever its digits are. */
const INT64_DIGITS = 19

/** In nanoseconds of 64 bits, beyond which Go begins again from below; undefined when it is none. */
export function wordyDuration(text: string): bigint | undefined {
  try {
    return parseDuration(text)
  } catch (error) {
    if (error instanceof DurationError) return inWords(text)
    throw error
  }
}

/** One number that has a unit is enough; others count for nothing. */
function inWords(text: string): bigint | undefined {
  let total: bigint | undefined
  let amount: string | undefined
  for (const [word] of text.matchAll(WORDS)) {
    if (/^\d/.test(word)) amount = word.replace(/^0+/, '')
    else if (!/^[A-Za-zµ]/.test(word)) amount = word.trim() === '' ? amount : undefined
    else if (amount !== undefined) {
      if (amount.length > INT64_DIGITS || BigInt(amount || '0') > MAX_INT64) return undefined
      const nanos = unitOf(word.toLowerCase())
      if (nanos !== undefined) total = BigInt.asIntN(64, (total ?? 0n) + BigInt(amount || '0') * nanos)
      amount = undefined
    }
  }
  return total
}

const unitOf = (word: string): bigint | undefined =>
  UNITS.find(({ names, beginning }) => names.includes(word) || word.startsWith(beginning))?.nanos
