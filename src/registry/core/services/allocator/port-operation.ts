/** Thread: pool. Ports taken and given back for one service, on a bitmap or only tried. Nothing here is stored. */

import { formatPortRange, type PortRange, portIndex } from '../../../../api/network/port-range.js'
import type { Random } from '../../../../lib/jitter.js'
import type { AllocationBitmap } from './allocation-bitmap.js'
import { AllocationError } from './allocation-error.js'

export interface PortOperation {
  /** Throws AllocationError. */
  take(port: number): void
  takeNext(): number
}

const alreadyAllocated = (): AllocationError => new AllocationError('allocated', 'provided port is already allocated')

export class BitmapPortOperation implements PortOperation {
  readonly #bitmap: AllocationBitmap
  readonly #range: PortRange
  readonly #random: Random

  constructor(bitmap: AllocationBitmap, range: PortRange, random: Random) {
    this.#bitmap = bitmap
    this.#range = range
    this.#random = random
  }

  take(port: number): void {
    const index = portIndex(this.#range, port)
    if (index === undefined)
      throw new AllocationError(
        'not-in-range',
        `provided port is not in the valid range. The range of valid ports is ${formatPortRange(this.#range)}`,
      )
    if (!this.#bitmap.take(index)) throw alreadyAllocated()
  }

  takeNext(): number {
    const index = this.#bitmap.takeNext(this.#random)
    if (index === undefined) throw new AllocationError('full', 'range is full')
    return this.#range.base + index
  }

  release(port: number): void {
    const index = portIndex(this.#range, port)
    if (index !== undefined) this.#bitmap.release(index)
  }
}

/** The first number that a dry run gives out: one that no service can have, as kube-apiserver answers. */
const DRY_RUN_BASE = 32768

export class DryRunPortOperation implements PortOperation {
  readonly #taken: number[] = []
  readonly #has: (port: number) => boolean

  constructor(has: (port: number) => boolean) {
    this.#has = has
  }

  take(port: number): void {
    if (this.#has(port) || this.#taken.includes(port)) throw alreadyAllocated()
    this.#taken.push(port)
  }

  takeNext(): number {
    const next = (this.#taken.length === 0 ? DRY_RUN_BASE : Math.max(...this.#taken)) + 1
    this.#taken.push(next)
    return next
  }
}
