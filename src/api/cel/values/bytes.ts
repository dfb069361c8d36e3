/** Thread: any. Bytes as a value. */
import { BYTES, type CelType } from '../types.js'
import { Boxed, type CelValue } from './value.js'

export class Bytes extends Boxed {
  readonly value: Uint8Array

  constructor(value: Uint8Array) {
    super()
    this.value = value
  }

  get type(): CelType {
    return BYTES
  }

  equals(other: CelValue): boolean {
    return other instanceof Bytes && Buffer.compare(this.value, other.value) === 0
  }
}
