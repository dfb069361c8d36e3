/** Thread: any. A value that may be absent. */
import { type CelType, DYN, optionalOf } from '../types.js'
import { equalValues } from './equality.js'
import { Boxed, type CelError, type CelValue, type Meter } from './value.js'

const TYPE = optionalOf(DYN)

export class Optional extends Boxed {
  static readonly NONE = new Optional(undefined)
  readonly value: CelValue | undefined

  constructor(value: CelValue | undefined) {
    super()
    this.value = value
  }

  get type(): CelType {
    return TYPE
  }

  equals(other: CelValue, meter?: Meter): boolean | CelError {
    if (!(other instanceof Optional)) return false
    if (this.value === undefined || other.value === undefined) return this.value === other.value
    return equalValues(this.value, other.value, meter)
  }
}
