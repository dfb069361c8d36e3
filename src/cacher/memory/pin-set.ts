/**
 * Thread: any. The pins of one thread on the states of one arena. The owner is told of the oldest pin alone, in one
 * shared word, because a pin keeps all later states too.
 */
import { assert } from '../../lib/assert.js'
import { PIN_STRIDE, PINNED, PINS, sequenceDistance } from './memory-layout.js'

export class PinSet {
  readonly #control: Int32Array
  readonly #slot: number
  readonly #pins: number[] = []
  #oldest = 0

  constructor(control: Int32Array, reader: number) {
    this.#control = control
    this.#slot = PINS + PIN_STRIDE * reader
  }

  /** How many pins are held. */
  get size(): number {
    return this.#pins.length
  }

  add(sequence: number): void {
    this.#pins.push(sequence)
    if (this.#pins.length > 1 && sequenceDistance(sequence, this.#oldest) >= 0) return
    this.#store(sequence)
  }

  remove(sequence: number): void {
    const pins = this.#pins
    const at = pins.lastIndexOf(sequence)
    assert(at >= 0, 'a pin released that is not held')
    pins[at] = pins[pins.length - 1]!
    pins.pop()
    if (pins.length === 0) Atomics.store(this.#control, this.#slot, 0)
    else if (sequence === this.#oldest) {
      let oldest = pins[0]!
      for (const pin of pins) if (sequenceDistance(pin, oldest) < 0) oldest = pin
      if (oldest !== sequence) this.#store(oldest)
    }
  }

  #store(sequence: number): void {
    this.#oldest = sequence
    Atomics.store(this.#control, this.#slot, sequence | PINNED)
  }
}
