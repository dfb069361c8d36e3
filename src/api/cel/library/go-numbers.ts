/** Thread: any. Numbers and texts as Go prints them: `%g`, `%.3f`, `%q`. */

/** The shortest text that is this double; from a million on and below 1e-4 with an exponent of at least two digits. */
export function shortestDouble(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const power = Number(exponent)
  if (power < -4 || power > 5) return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
  const digits = mantissa.replace('-', '').replace('.', '')
  const sign = value < 0 ? '-' : ''
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`
  if (digits.length <= power + 1) return sign + digits.padEnd(power + 1, '0')
  return `${sign}${digits.slice(0, power + 1)}.${digits.slice(power + 1)}`
}

const FLOAT = new Float64Array(1)
const BITS = new BigUint64Array(FLOAT.buffer)

/** A finite double that is not negative as numerator / 2^shift. */
function exactParts(value: number): { numerator: bigint; shift: bigint } {
  FLOAT[0] = value
  const bits = BITS[0]!
  const exponent = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n)
  const power = Math.max(exponent, 1) - 1075
  return power >= 0
    ? { numerator: mantissa << BigInt(power), shift: 0n }
    : { numerator: mantissa, shift: BigInt(-power) }
}

/** With so many digits after the point, the exact value rounded half to even. */
export function fixedDouble(value: number, precision: number): string {
  const { numerator, shift } = exactParts(Math.abs(value))
  const scaled = numerator * 10n ** BigInt(precision)
  const quotient = scaled >> shift
  const rest = scaled - (quotient << shift)
  const half = shift === 0n ? 1n : 1n << (shift - 1n)
  const rounded = rest > half || (rest === half && quotient % 2n === 1n) ? quotient + 1n : quotient
  const digits = rounded.toString().padStart(precision + 1, '0')
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  if (precision === 0) return sign + digits
  return `${sign}${digits.slice(0, -precision)}.${digits.slice(-precision)}`
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u
/** Escapes that Go and the expression language share. */
export const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
])

/** As Go's strconv.Quote. */
export function goQuote(text: string): string {
  let quoted = '"'
  for (const character of text) quoted += SHORT_ESCAPES.get(character) ?? escaped(character)
  return `${quoted}"`
}

function escaped(character: string): string {
  if (PRINTABLE.test(character)) return character
  const point = character.codePointAt(0)!
  const hex = point.toString(16)
  if (point < 0x80) return `\\x${hex.padStart(2, '0')}`
  return point > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`
}
