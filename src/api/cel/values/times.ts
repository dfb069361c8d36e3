/** Thread: any. Moments and spans of time, to the nanosecond. */
import { type CelType, DURATION, TIMESTAMP } from '../types.js'
import { Boxed, type CelValue } from './value.js'

/** From 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z. */
const MIN_SECONDS = -62_135_596_800
const MAX_SECONDS = 253_402_300_799
const NANOSECONDS = 1_000_000_000n
const MAX_INT64 = 2n ** 63n - 1n

export class Timestamp extends Boxed {
  /** Since 1970, negative before. */
  readonly seconds: number
  /** 0 to 999,999,999, after `seconds`. */
  readonly nanos: number

  constructor(seconds: number, nanos: number) {
    super()
    this.seconds = seconds
    this.nanos = nanos
  }

  get type(): CelType {
    return TIMESTAMP
  }

  equals(other: CelValue): boolean {
    return other instanceof Timestamp && this.seconds === other.seconds && this.nanos === other.nanos
  }

  get nanoseconds(): bigint {
    return BigInt(this.seconds) * NANOSECONDS + BigInt(this.nanos)
  }

  /** Undefined outside of the years 1 to 9999. */
  static of(nanoseconds: bigint): Timestamp | undefined {
    let seconds = nanoseconds / NANOSECONDS
    let nanos = nanoseconds % NANOSECONDS
    if (nanos < 0n) {
      nanos += NANOSECONDS
      seconds -= 1n
    }
    const whole = Number(seconds)
    return whole < MIN_SECONDS || whole > MAX_SECONDS ? undefined : new Timestamp(whole, Number(nanos))
  }
}

export class Duration extends Boxed {
  /** A signed integer of 64 bits. */
  readonly nanoseconds: bigint

  constructor(nanoseconds: bigint) {
    super()
    this.nanoseconds = nanoseconds
  }

  get type(): CelType {
    return DURATION
  }

  equals(other: CelValue): boolean {
    return other instanceof Duration && this.nanoseconds === other.nanoseconds
  }

  /** Undefined when it does not fit. */
  static of(nanoseconds: bigint): Duration | undefined {
    return nanoseconds > MAX_INT64 || nanoseconds < -MAX_INT64 - 1n ? undefined : new Duration(nanoseconds)
  }
}
