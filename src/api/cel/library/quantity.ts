/** Thread: any. Kubernetes' quantities in expressions: `quantity('1.5Gi').isGreaterThan(quantity('1G'))`. */
import { parseQuantity, Quantity, QuantityError } from '../../quantity.js'
import type { Library } from '../function-declaration.js'
import { BOOL, type CelType, DOUBLE, INT, opaque, STRING } from '../types.js'
import { Boxed, CelError, type CelValue, doubleValue, intValue } from '../values/value.js'
import { declare, method, plain, walks } from './overload.js'

export const QUANTITY = opaque('kubernetes.Quantity')

const MAX_INT64 = 2n ** 63n - 1n
const isInt64 = (value: bigint): boolean => value <= MAX_INT64 && value >= -MAX_INT64 - 1n
/** More digits than this are not kept in 64 bits. */
const MAX_DIGITS = 18
const BINARY_POWERS: ReadonlyMap<string, number> = new Map(
  ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, i) => [suffix, 10 * (i + 1)]),
)

class QuantityValue extends Boxed {
  readonly quantity: Quantity
  /**
   * Whether Kubernetes keeps it as 64 bits and a power of ten, and not as a big decimal: only then it takes a whole number for
   * one, so that 1Ei is none.
   */
  readonly isShort: boolean

  constructor(quantity: Quantity, isShort: boolean) {
    super()
    this.quantity = quantity
    this.isShort = isShort
  }

  get type(): CelType {
    return QUANTITY
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof QuantityValue ? this.quantity.equals(other.quantity) : new CelError('no such overload')
  }

  /** As an int, when it is written as one. */
  get integer(): number | bigint | undefined {
    const { unscaled, scale } = this.quantity.parts()
    if (!this.isShort || scale < 0) return undefined
    const value = unscaled * 10n ** BigInt(scale)
    return isInt64(value) ? intValue(value) : undefined
  }
}

function isShortText(text: string): boolean {
  const [, whole = '', fraction = '', suffix = ''] = /^[+-]?(\d*)(?:\.(\d*))?([^\d.].*)?$/.exec(text) ?? []
  const digits = whole.replace(/^0+/, '') || '0'
  const power = BINARY_POWERS.get(suffix)
  if (power === undefined) return digits.length + fraction.length <= MAX_DIGITS
  return fraction === '' && 15 - digits.length - Math.trunc((power * 3) / 10) - 1 >= 0
}

function parse(text: string): QuantityValue | CelError {
  try {
    const quantity = parseQuantity(text)
    return new QuantityValue(quantity, isShortText(text) && quantity.parts().scale >= -9)
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message)
    throw error
  }
}

const ofInt = (value: number | bigint): QuantityValue =>
  new QuantityValue(Quantity.ofInteger(value, 'DecimalExponent'), true)

const combined = (a: QuantityValue, b: QuantityValue, result: Quantity): QuantityValue =>
  new QuantityValue(result, a.isShort && b.isShort && isInt64(result.parts().unscaled))

const add = (a: QuantityValue, b: QuantityValue): QuantityValue => combined(a, b, a.quantity.add(b.quantity))
const sub = (a: QuantityValue, b: QuantityValue): QuantityValue => combined(a, b, a.quantity.subtract(b.quantity))
const compare = (a: QuantityValue, b: QuantityValue): number => a.quantity.compare(b.quantity)

const Q = QUANTITY

export const quantities: Library = {
  types: [QUANTITY],
  functions: [
    declare('quantity', plain('string_to_quantity', [STRING], Q, parse, walks())),
    declare(
      'isQuantity',
      plain('is_quantity_string', [STRING], BOOL, (text: string) => !(parse(text) instanceof CelError), walks()),
    ),
    // A plain function, unlike all others of this library.
    declare(
      'sign',
      plain('quantity_sign', [Q], INT, (q: QuantityValue) => q.quantity.sign),
    ),
    declare(
      'isGreaterThan',
      method('quantity_is_greater_than', [Q, Q], BOOL, (a: QuantityValue, b: QuantityValue) => compare(a, b) > 0),
    ),
    declare(
      'isLessThan',
      method('quantity_is_less_than', [Q, Q], BOOL, (a: QuantityValue, b: QuantityValue) => compare(a, b) < 0),
    ),
    declare('compareTo', method('quantity_compare_to', [Q, Q], INT, compare)),
    declare(
      'asApproximateFloat',
      method('quantity_get_float', [Q], DOUBLE, (q: QuantityValue) => doubleValue(q.quantity.toNumber())),
    ),
    declare(
      'asInteger',
      method(
        'quantity_get_int',
        [Q],
        INT,
        (q: QuantityValue) => q.integer ?? new CelError('cannot convert value to integer'),
      ),
    ),
    declare(
      'isInteger',
      method('quantity_is_integer', [Q], BOOL, (q: QuantityValue) => q.integer !== undefined),
    ),
    declare(
      'add',
      method('quantity_add', [Q, Q], Q, add),
      method('quantity_add_int', [Q, INT], Q, (q: QuantityValue, n: number | bigint) => add(q, ofInt(n))),
    ),
    declare(
      'sub',
      method('quantity_sub', [Q, Q], Q, sub),
      method('quantity_sub_int', [Q, INT], Q, (q: QuantityValue, n: number | bigint) => sub(q, ofInt(n))),
    ),
  ],
}
