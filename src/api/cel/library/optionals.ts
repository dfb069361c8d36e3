/** Thread: any. Functions of optional values. */
import type { Library } from '../function-declaration.js'
import { OPTIONAL_MACROS } from '../parse/standard-macros.js'
import { BOOL, optionalOf, parameter } from '../types.js'
import { Bytes } from '../values/bytes.js'
import { isList, listSize } from '../values/lists.js'
import { isMap, mapSize } from '../values/maps.js'
import { Optional } from '../values/optional.js'
import { Duration, Timestamp } from '../values/times.js'
import { CelError, type CelValue, numberOf } from '../values/value.js'

const V = parameter('V')
const OPTIONAL = optionalOf(V)

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '') return true
  const number = numberOf(value)
  // biome-ignore lint/suspicious/noDoubleEquals: 0n == 0 compares a bigint with a number exactly.
  if (number !== undefined) return number == 0
  if (isList(value)) return listSize(value) === 0
  if (value instanceof Bytes) return value.value.length === 0
  if (value instanceof Duration) return value.nanoseconds === 0n
  if (value instanceof Timestamp) return value.seconds === -62_135_596_800 && value.nanos === 0
  return isMap(value) && mapSize(value) === 0
}

const NONE = new CelError('optional.none() dereference')

export const optionals: Library = {
  macros: OPTIONAL_MACROS,
  functions: [
    {
      name: 'optional.of',
      overloads: [{ id: 'optional_of', parameters: [V], result: OPTIONAL, call: (value) => new Optional(value) }],
    },
    {
      name: 'optional.ofNonZeroValue',
      overloads: [
        {
          id: 'optional_ofNonZeroValue',
          parameters: [V],
          result: OPTIONAL,
          call: (value) => (isZero(value) ? Optional.NONE : new Optional(value)),
        },
      ],
    },
    {
      name: 'optional.none',
      overloads: [{ id: 'optional_none', parameters: [], result: OPTIONAL, call: () => Optional.NONE }],
    },
    {
      name: 'value',
      overloads: [
        {
          id: 'optional_value',
          member: true,
          parameters: [OPTIONAL],
          result: V,
          call: ({ value }: Optional) => (value === undefined ? NONE : value),
        },
      ],
    },
    {
      name: 'hasValue',
      overloads: [
        {
          id: 'optional_hasValue',
          member: true,
          parameters: [OPTIONAL],
          result: BOOL,
          call: ({ value }: Optional) => value !== undefined,
        },
      ],
    },
    {
      name: 'or',
      overloads: [
        {
          id: 'optional_or_optional',
          member: true,
          parameters: [OPTIONAL, OPTIONAL],
          result: OPTIONAL,
          call: (a: Optional, b: Optional) => (a.value === undefined ? b : a),
        },
      ],
    },
    {
      name: 'orValue',
      overloads: [
        {
          id: 'optional_orValue_value',
          member: true,
          parameters: [OPTIONAL, V],
          result: V,
          call: (a: Optional, b: CelValue) => (a.value === undefined ? b : a.value),
        },
      ],
    },
  ],
}
