/** Thread: any. `size`, `type`, `dyn`, and from one type to another. */
import { STRING_TRAVERSAL_FACTOR, scaleRange } from '../cost/estimate.js'
import type { FunctionDeclaration, Library, Overload } from '../function-declaration.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  opaque,
  parameter,
  STRING,
  TIMESTAMP,
  TYPE,
  typeOf,
  UINT,
} from '../types.js'
import { Bytes } from '../values/bytes.js'
import { isMap, STEPS_A_KEY } from '../values/maps.js'
import { sizeOf } from '../values/size.js'
import { traversalCost } from '../values/strings.js'
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from '../values/time-formats.js'
import { type Duration, Timestamp } from '../values/times.js'
import { TypeValue, valueType } from '../values/type-value.js'
import { CelError, type CelValue, doubleValue, intValue, numberOf, type Uint } from '../values/value.js'
import { checkedUint } from './arithmetic.js'
import { shortestDouble } from './go-numbers.js'

const A = parameter('A')
const B = parameter('B')
const RANGE = new CelError('range error converting')
const MAX_INT = 2n ** 63n - 1n

const same = (value: CelValue): CelValue => value
const conversion = (id: string, from: CelType, to: CelType, call: Overload['call']): Overload => ({
  id,
  parameters: [from],
  result: to,
  call,
})

function intOf(value: bigint): CelValue {
  return value > MAX_INT || value < -MAX_INT - 1n ? new CelError('integer overflow') : intValue(value)
}

const intOfDouble = (value: CelValue): CelValue => {
  const number = Number(numberOf(value))
  const fits = Number.isFinite(number) && number > -(2 ** 63) && number < 2 ** 63
  return fits ? intOf(BigInt(Math.trunc(number))) : new CelError('integer overflow')
}
const intOfText = (text: string): CelValue =>
  /^[+-]?\d{1,30}$/.test(text)
    ? intOf(BigInt(text.replace('+', '')))
    : new CelError(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
const uintOfDouble = (value: CelValue): CelValue => {
  const number = Number(numberOf(value))
  const fits = Number.isFinite(number) && number >= 0 && number < 2 ** 64
  return fits ? checkedUint(BigInt(Math.trunc(number))) : new CelError('unsigned integer overflow')
}
const uintOfText = (text: string): CelValue =>
  /^\d{1,30}$/.test(text)
    ? checkedUint(BigInt(text))
    : new CelError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`)

const NAMED_DOUBLES: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
])
function doubleOfText(text: string): CelValue {
  const named = NAMED_DOUBLES.get(text.toLowerCase())
  if (named !== undefined) return named
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text))
    return new CelError(`strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`)
  return doubleValue(Number(text))
}

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
])
const boolOfText = (text: string): CelValue =>
  BOOLS.get(text) ?? new CelError(`strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`)

function textOfBytes({ value }: Bytes): CelValue {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

const seconds = (value: number | bigint): CelValue => Timestamp.of(BigInt(value) * 1_000_000_000n) ?? RANGE

const walked = {
  cost: (_result: CelValue, a: CelValue) => (typeof a === 'string' ? traversalCost(a) : Math.ceil(sizeOf(a) * 0.1)),
}

const CONVERSIONS: readonly FunctionDeclaration[] = [
  {
    name: 'int',
    overloads: [
      conversion('int64_to_int64', INT, INT, same),
      conversion('uint64_to_int64', UINT, INT, (value: Uint) => intOf(value.value)),
      conversion('double_to_int64', DOUBLE, INT, intOfDouble),
      conversion('string_to_int64', STRING, INT, (text: string) => intOfText(text)),
      conversion('timestamp_to_int64', TIMESTAMP, INT, (value: Timestamp) => value.seconds),
      conversion('duration_to_int64', DURATION, INT, (value: Duration) => intValue(value.nanoseconds)),
    ],
  },
  {
    name: 'uint',
    overloads: [
      conversion('uint64_to_uint64', UINT, UINT, same),
      conversion('int64_to_uint64', INT, UINT, (value: number | bigint) => checkedUint(BigInt(value))),
      conversion('double_to_uint64', DOUBLE, UINT, uintOfDouble),
      conversion('string_to_uint64', STRING, UINT, (text: string) => uintOfText(text)),
    ],
  },
  {
    name: 'double',
    overloads: [
      conversion('double_to_double', DOUBLE, DOUBLE, same),
      conversion('int64_to_double', INT, DOUBLE, (value: number | bigint) => doubleValue(Number(value))),
      conversion('uint64_to_double', UINT, DOUBLE, (value: Uint) => doubleValue(Number(value.value))),
      conversion('string_to_double', STRING, DOUBLE, (text: string) => doubleOfText(text)),
    ],
  },
  {
    name: 'bool',
    overloads: [
      conversion('bool_to_bool', BOOL, BOOL, same),
      conversion('string_to_bool', STRING, BOOL, (text: string) => boolOfText(text)),
    ],
  },
  {
    name: 'bytes',
    overloads: [
      conversion('bytes_to_bytes', BYTES, BYTES, same),
      {
        ...conversion('string_to_bytes', STRING, BYTES, (text: string) => new Bytes(Buffer.from(text))),
        ...walked,
        estimate: (text) => ({
          cost: scaleRange(text!.size, STRING_TRAVERSAL_FACTOR),
          size: { min: text!.size.min, max: text!.size.max * 4 },
        }),
      },
    ],
  },
  {
    name: 'string',
    overloads: [
      conversion('string_to_string', STRING, STRING, same),
      conversion('bool_to_string', BOOL, STRING, (value: boolean) => String(value)),
      conversion('int64_to_string', INT, STRING, (value: number | bigint) => String(value)),
      conversion('uint64_to_string', UINT, STRING, (value: Uint) => String(value.value)),
      conversion('double_to_string', DOUBLE, STRING, (value) => shortestDouble(Number(numberOf(value)))),
      {
        ...conversion('bytes_to_string', BYTES, STRING, (value: Bytes) => textOfBytes(value)),
        ...walked,
        estimate: (bytes) => ({
          cost: scaleRange(bytes!.size, STRING_TRAVERSAL_FACTOR),
          size: { min: Math.floor(bytes!.size.min / 4), max: bytes!.size.max },
        }),
      },
      conversion('timestamp_to_string', TIMESTAMP, STRING, (value: Timestamp) => formatTimestamp(value)),
      conversion('duration_to_string', DURATION, STRING, (value: Duration) => formatDuration(value)),
    ],
  },
  {
    name: 'timestamp',
    overloads: [
      conversion('timestamp_to_timestamp', TIMESTAMP, TIMESTAMP, same),
      conversion(
        'string_to_timestamp',
        STRING,
        TIMESTAMP,
        (text: string) => parseTimestamp(text) ?? new CelError(`cannot parse ${JSON.stringify(text)} as a timestamp`),
      ),
      conversion('int64_to_timestamp', INT, TIMESTAMP, (value: number | bigint) => seconds(value)),
    ],
  },
  {
    name: 'duration',
    overloads: [
      conversion('duration_to_duration', DURATION, DURATION, same),
      conversion(
        'string_to_duration',
        STRING,
        DURATION,
        (text: string) => parseDuration(text) ?? new CelError(`time: invalid duration ${JSON.stringify(text)}`),
      ),
    ],
  },
  { name: 'dyn', overloads: [conversion('to_dyn', A, DYN, same)] },
  { name: 'type', overloads: [conversion('type', A, typeOf(A), (value) => new TypeValue(valueType(value)))] },
]

const SIZED: readonly (readonly [string, CelType])[] = [
  ['string', STRING],
  ['bytes', BYTES],
  ['list', listOf(A)],
  ['map', mapOf(A, B)],
]

/** Entries of a map are counted one by one, at the cost of one. */
const sizeCall: Overload['call'] = (value, _b, _c, _d, meter) => {
  const count = sizeOf(value)
  if (isMap(value)) meter.spend(STEPS_A_KEY * count)
  return count
}

const size: FunctionDeclaration = {
  name: 'size',
  overloads: SIZED.flatMap(([id, type]) => [
    { id: `size_${id}`, parameters: [type], result: INT, call: sizeCall },
    { id: `${id}_size`, member: true, parameters: [type], result: INT, call: sizeCall },
  ]),
}

/** Names of types in expressions. */
const TYPES: readonly CelType[] = [
  BOOL,
  INT,
  UINT,
  DOUBLE,
  STRING,
  BYTES,
  NULL,
  TIMESTAMP,
  DURATION,
  TYPE,
  listOf(DYN),
  mapOf(DYN, DYN),
  opaque('optional_type'),
]

export const conversions: Library = { functions: [...CONVERSIONS, size], types: TYPES }
