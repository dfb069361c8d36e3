/** Thread: any. Calculating with ints, uints, doubles, times, strings, bytes and lists. What does not fit into 64 bits is an error. */
import type { Estimator, Range } from '../cost/estimate.js'
import { addRanges, exactly, STRING_TRAVERSAL_FACTOR, scaleRange } from '../cost/estimate.js'
import type { FunctionDeclaration, Library, Overload } from '../function-declaration.js'
import { BYTES, type CelType, DOUBLE, DURATION, INT, listOf, parameter, STRING, TIMESTAMP, UINT } from '../types.js'
import { Bytes } from '../values/bytes.js'
import { concatenated } from '../values/concatenation.js'
import type { CelList } from '../values/lists.js'
import { sizeOf } from '../values/size.js'
import { Duration, Timestamp } from '../values/times.js'
import { concatenate } from '../values/typed-json.js'
import { CelError, type CelValue, doubleValue, intValue, type Meter, numberOf, Uint } from '../values/value.js'
import { MAX_TEXT_LENGTH } from './text-search.js'

type Int = number | bigint
type Operator = '+' | '-' | '*' | '/' | '%'

const MAX_INT = 2n ** 63n - 1n
const MAX_UINT = 2n ** 64n - 1n
const INT_OVERFLOW = new CelError('integer overflow')
const UINT_OVERFLOW = new CelError('unsigned integer overflow')
const TIME_OVERFLOW = new CelError('timestamp overflow')
const DURATION_OVERFLOW = new CelError('duration overflow')

export const checkedInt = (value: bigint): CelValue =>
  value > MAX_INT || value < -MAX_INT - 1n ? INT_OVERFLOW : intValue(value)
export const checkedUint = (value: bigint): CelValue =>
  value > MAX_UINT || value < 0n ? UINT_OVERFLOW : new Uint(value)

const EXACT: Readonly<Record<Operator, (a: bigint, b: bigint) => bigint>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '%': (a, b) => a % b,
}
const FAST: Readonly<Record<Operator, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => Math.trunc(a / b),
  '%': (a, b) => a % b,
}

const zeroError = (operator: Operator): CelError | undefined =>
  operator === '/' ? new CelError('division by zero') : operator === '%' ? new CelError('modulus by zero') : undefined

/** Numbers as long as both and the result are safe; a quotient of safe ones is exact when it is truncated from a safe double. */
export const intOperation = (operator: Operator): ((a: Int, b: Int) => CelValue) => {
  const [fast, exact, zero] = [FAST[operator], EXACT[operator], zeroError(operator)]
  return (a, b) => {
    // biome-ignore lint/suspicious/noDoubleEquals: 0n == 0 compares a bigint with a number exactly.
    if (zero !== undefined && b == 0) return zero
    if (typeof a === 'number' && typeof b === 'number' && operator !== '/') {
      const result = fast(a, b)
      if (Number.isSafeInteger(result)) return result + 0
    }
    return checkedInt(exact(BigInt(a), BigInt(b)))
  }
}

const uintOperation = (operator: Operator) => {
  const [exact, zero] = [EXACT[operator], zeroError(operator)]
  return (a: Uint, b: Uint): CelValue =>
    zero !== undefined && b.value === 0n ? zero : checkedUint(exact(a.value, b.value))
}

const doubleOperation = (operator: Operator) => {
  const fast = operator === '/' ? (a: number, b: number) => a / b : FAST[operator]
  return (a: CelValue, b: CelValue): CelValue => doubleValue(fast(Number(numberOf(a)), Number(numberOf(b))))
}

const overload = (id: string, parameters: readonly CelType[], result: CelType, call: Overload['call']): Overload => ({
  id,
  parameters,
  result,
  call,
})

const NUMERIC = [
  ['add', '+'],
  ['subtract', '-'],
  ['multiply', '*'],
  ['divide', '/'],
  ['modulo', '%'],
] as const

const numeric = ([word, operator]: (typeof NUMERIC)[number]): FunctionDeclaration => ({
  name: `_${operator}_`,
  overloads: [
    overload(`${word}_int64`, [INT, INT], INT, intOperation(operator)),
    overload(`${word}_uint64`, [UINT, UINT], UINT, uintOperation(operator)),
    ...(operator === '%' ? [] : [overload(`${word}_double`, [DOUBLE, DOUBLE], DOUBLE, doubleOperation(operator))]),
  ],
})

const timestampOf = (nanoseconds: bigint): CelValue => Timestamp.of(nanoseconds) ?? TIME_OVERFLOW
const durationOf = (nanoseconds: bigint): CelValue => Duration.of(nanoseconds) ?? DURATION_OVERFLOW
type Time = Timestamp | Duration

const addTimes = (a: Time, b: Time): CelValue => timestampOf(a.nanoseconds + b.nanoseconds)
const T = parameter('T')

const joinedCost = (_result: CelValue, a: CelValue, b: CelValue): number =>
  Math.ceil((sizeOf(a) + sizeOf(b)) * STRING_TRAVERSAL_FACTOR)
const joinedSize = (a: Range, b: Range): Range => addRanges(a, b)
const joined: Estimator = (a, b) => {
  const size = joinedSize(a!.size, b!.size)
  return { cost: scaleRange(size, STRING_TRAVERSAL_FACTOR), size }
}

/** What is longer has cost more than an evaluation may, and is not made. */
const TOO_LONG = new CelError('operation cancelled: actual cost limit exceeded')
const joinTexts = (a: string, b: string): CelValue => (a.length + b.length > MAX_TEXT_LENGTH ? TOO_LONG : a + b)
const joinBytes = (a: Bytes, b: Bytes): CelValue =>
  a.value.length + b.value.length > MAX_TEXT_LENGTH ? TOO_LONG : new Bytes(Buffer.concat([a.value, b.value]))

export const arithmetic: Library = {
  functions: [
    ...NUMERIC.map(numeric),
    {
      name: '_+_',
      overloads: [
        {
          ...overload('add_string', [STRING, STRING], STRING, joinTexts),
          cost: joinedCost,
          estimate: joined,
        },
        {
          ...overload('add_bytes', [BYTES, BYTES], BYTES, joinBytes),
          cost: joinedCost,
          estimate: joined,
        },
        {
          ...overload(
            'add_list',
            [listOf(T), listOf(T)],
            listOf(T),
            (a: CelList, b: CelList, _c: CelValue, _d: CelValue, meter: Meter) =>
              concatenate(a, b, meter) ?? concatenated(a, b, meter),
          ),
          estimate: (a, b) => ({ cost: exactly(1), size: joinedSize(a!.size, b!.size) }),
        },
        overload('add_duration_duration', [DURATION, DURATION], DURATION, (a: Duration, b: Duration) =>
          durationOf(a.nanoseconds + b.nanoseconds),
        ),
        overload('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP, addTimes),
        overload('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP, addTimes),
      ],
    },
    {
      name: '_-_',
      overloads: [
        overload('subtract_duration_duration', [DURATION, DURATION], DURATION, (a: Duration, b: Duration) =>
          durationOf(a.nanoseconds - b.nanoseconds),
        ),
        overload('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP, (a: Timestamp, b: Duration) =>
          timestampOf(a.nanoseconds - b.nanoseconds),
        ),
        overload('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION, (a: Timestamp, b: Timestamp) =>
          durationOf(a.nanoseconds - b.nanoseconds),
        ),
      ],
    },
    {
      name: '-_',
      overloads: [
        overload('negate_int64', [INT], INT, (a: Int) => checkedInt(-BigInt(a))),
        overload('negate_double', [DOUBLE], DOUBLE, (a: CelValue) => doubleValue(-Number(numberOf(a)))),
      ],
    },
  ],
}
