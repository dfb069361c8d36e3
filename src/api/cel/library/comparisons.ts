/** Thread: any. Equality, order, membership and logic. The closures of src/api/cel/compile know the common ones by heart. */
import type { Estimator } from '../cost/estimate.js'
import { exactly, STRING_TRAVERSAL_FACTOR, scaleRange, UNBOUNDED } from '../cost/estimate.js'
import type { FunctionDeclaration, Library, Overload } from '../function-declaration.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  optionalOf,
  parameter,
  STRING,
  sameType,
  TIMESTAMP,
  UINT,
} from '../types.js'
import { compareValues, equalValues } from '../values/equality.js'
import { type CelList, isList, listItems, listSize } from '../values/lists.js'
import { type AnyMap, isMap, mapGet } from '../values/maps.js'
import { Optional } from '../values/optional.js'
import { sizeOf } from '../values/size.js'
import { CelError, type CelValue, Double, type Meter, Uint } from '../values/value.js'

const A = parameter('A')
const B = parameter('B')
const NO_OVERLOAD = new CelError('no such overload')

const shorterCost = (_result: CelValue, a: CelValue, b: CelValue): number =>
  Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * STRING_TRAVERSAL_FACTOR)
const shorter: Estimator = (a, b) => {
  const max = Math.min(a!.size.max, b!.size.max)
  return { cost: scaleRange({ min: max > 0 ? 1 : 0, max }, STRING_TRAVERSAL_FACTOR) }
}

const FORMAT = 'kubernetes.NamedFormat'
const URL_TYPE = 'kubernetes.URL'
const AUTHORIZATION = 'kubernetes.authorization.'
/** Libraries whose values are equal at the price of one step. */
const CHEAP = new Set(['net.IP', 'net.CIDR', 'kubernetes.Quantity', 'kubernetes.Semver'])
const MAX_FORMAT_SIZE = 64

const equality: Estimator = (a, b) => {
  if (a!.type.kind !== 'opaque' || !sameType(a!.type, b!.type)) return shorter(a!, b!)
  const { name } = a!.type
  if (CHEAP.has(name) || name.startsWith(AUTHORIZATION)) return { cost: exactly(1) }
  const known = b!.size.max === UNBOUNDED ? 1 : b!.size.max
  const max = name === FORMAT ? MAX_FORMAT_SIZE : name === URL_TYPE ? known : undefined
  return max === undefined ? shorter(a!, b!) : { cost: scaleRange({ min: 1, max }, STRING_TRAVERSAL_FACTOR) }
}

const isNot = (value: boolean | CelError): boolean | CelError => (typeof value === 'boolean' ? !value : value)

const equals: readonly FunctionDeclaration[] = [
  {
    name: '_==_',
    overloads: [
      {
        id: 'equals',
        parameters: [A, A],
        result: BOOL,
        call: (a, b, _c, _d, meter) => equalValues(a, b, meter),
        cost: shorterCost,
        estimate: equality,
      },
    ],
  },
  {
    name: '_!=_',
    overloads: [
      {
        id: 'not_equals',
        parameters: [A, A],
        result: BOOL,
        call: (a, b, _c, _d, meter) => isNot(equalValues(a, b, meter)),
        cost: shorterCost,
        estimate: shorter,
      },
    ],
  },
]

const ORDERS = [
  ['_<_', 'less', (order: number) => order < 0],
  ['_<=_', 'less_equals', (order: number) => order <= 0],
  ['_>_', 'greater', (order: number) => order > 0],
  ['_>=_', 'greater_equals', (order: number) => order >= 0],
] as const
const NUMBERS: readonly (readonly [string, CelType])[] = [
  ['int64', INT],
  ['uint64', UINT],
  ['double', DOUBLE],
]
const OTHERS: readonly (readonly [string, CelType])[] = [
  ['bool', BOOL],
  ['string', STRING],
  ['bytes', BYTES],
  ['timestamp', TIMESTAMP],
  ['duration', DURATION],
]

const ordered = ([name, word, test]: (typeof ORDERS)[number]): FunctionDeclaration => {
  const call = (a: CelValue, b: CelValue): CelValue => {
    const order = compareValues(a, b)
    return order === undefined ? false : test(order)
  }
  const overload = (id: string, a: CelType, b: CelType): Overload => ({
    id: `${word}_${id}`,
    parameters: [a, b],
    result: BOOL,
    call,
    ...(id === 'string' || id === 'bytes' ? { cost: shorterCost, estimate: shorter } : {}),
  })
  const same = [...OTHERS.slice(0, 1), ...NUMBERS, ...OTHERS.slice(1)].map(([id, type]) => overload(id, type, type))
  const crossed = NUMBERS.flatMap(([left, a]) =>
    NUMBERS.filter(([right]) => right !== left).map(([right, b]) => overload(`${left}_${right}`, a, b)),
  )
  return { name, overloads: [...same, ...crossed] }
}

/** An error among the items counts only when none is equal. */
function isIn(value: CelValue, list: CelList, meter: Meter): boolean | CelError {
  let error: CelError | undefined
  for (const item of listItems(list)) {
    const equal = equalValues(value, item, meter)
    if (equal === true) return true
    if (equal !== false) error ??= equal
  }
  return error ?? false
}

const membership: FunctionDeclaration = {
  name: '@in',
  overloads: [
    {
      id: 'in_list',
      parameters: [A, listOf(A)],
      result: BOOL,
      call: (value: CelValue, list: CelList, _c, _d, meter) => isIn(value, list, meter),
      cost: (_result, _value, list: CelList) => listSize(list),
      estimate: (_value, list) => ({ cost: scaleRange(list!.size, 1) }),
    },
    {
      id: 'in_map',
      parameters: [A, mapOf(A, B)],
      result: BOOL,
      call: (key: CelValue, map: AnyMap) => mapGet(map, key) !== undefined,
    },
  ],
}

/** The item at an index, or the value of a key; an error when there is none. */
export function itemAt(holder: CelValue, key: CelValue): CelValue {
  if (holder instanceof Optional) {
    if (holder.value === undefined) return holder
    const found = findItem(holder.value, key)
    return found instanceof CelError ? found : found === undefined ? Optional.NONE : new Optional(found)
  }
  const found = findItem(holder, key)
  if (found !== undefined) return found
  return isList(holder) ? new CelError(`index out of bounds: ${keyText(key)}`) : noSuchKey(key)
}

export const noSuchKey = (key: CelValue): CelError => new CelError(`no such key: ${keyText(key)}`)

const keyText = (key: CelValue): string =>
  key instanceof Uint || key instanceof Double ? String(key.value) : typeof key === 'object' ? 'object' : String(key)

/** Undefined: there is none. */
export function findItem(holder: CelValue, key: CelValue): CelValue | undefined {
  if (isList(holder)) {
    const index = key instanceof Uint || key instanceof Double ? Number(key.value) : key
    if (typeof index === 'bigint') return undefined
    if (typeof index !== 'number' || !Number.isInteger(index)) return new CelError(`unsupported index type in list`)
    return index >= 0 && index < listSize(holder) ? listItems(holder)[index] : undefined
  }
  return isMap(holder) ? mapGet(holder, key) : NO_OVERLOAD
}

export function findOptional(holder: CelValue, key: CelValue): CelValue {
  const inner = holder instanceof Optional ? holder.value : holder
  if (inner === undefined) return Optional.NONE
  const found = findItem(inner, key)
  return found instanceof CelError ? found : found === undefined ? Optional.NONE : new Optional(found)
}

const index: readonly FunctionDeclaration[] = [
  {
    name: '_[_]',
    overloads: [
      { id: 'index_list', parameters: [listOf(A), INT], result: A, call: itemAt },
      { id: 'index_map', parameters: [mapOf(A, B), A], result: B, call: itemAt },
      { id: 'optional_list_index_int', parameters: [optionalOf(listOf(A)), INT], result: optionalOf(A), call: itemAt },
      { id: 'optional_map_index_value', parameters: [optionalOf(mapOf(A, B)), A], result: optionalOf(B), call: itemAt },
    ],
  },
  {
    name: '_[?_]',
    overloads: [
      { id: 'list_optindex_optional_int', parameters: [listOf(A), INT], result: optionalOf(A), call: findOptional },
      {
        id: 'optional_list_optindex_optional_int',
        parameters: [optionalOf(listOf(A)), INT],
        result: optionalOf(A),
        call: findOptional,
      },
      { id: 'map_optindex_optional_value', parameters: [mapOf(A, B), A], result: optionalOf(B), call: findOptional },
      {
        id: 'optional_map_optindex_optional_value',
        parameters: [optionalOf(mapOf(A, B)), A],
        result: optionalOf(B),
        call: findOptional,
      },
    ],
  },
]

/** What closures evaluate themselves, since not all of their arguments may be: never called. */
const special = (name: string, id: string, parameters: readonly CelType[], result: CelType): FunctionDeclaration => ({
  name,
  overloads: [{ id, parameters, result, call: () => NO_OVERLOAD }],
})

export const comparisons: Library = {
  functions: [
    ...equals,
    ...ORDERS.map(ordered),
    membership,
    ...index,
    special('_&&_', 'logical_and', [BOOL, BOOL], BOOL),
    special('_||_', 'logical_or', [BOOL, BOOL], BOOL),
    special('_?_:_', 'conditional', [BOOL, A, A], A),
    special('@not_strictly_false', 'not_strictly_false', [BOOL], BOOL),
    {
      name: '!_',
      overloads: [{ id: 'logical_not', parameters: [BOOL], result: BOOL, call: (value: boolean) => !value }],
    },
  ],
}
