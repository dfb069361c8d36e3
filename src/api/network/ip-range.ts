/** Thread: any. The addresses of one service CIDR that may be given out, and the order in which they are tried. */

import type { Random } from '../../lib/jitter.js'
import { type Address, type Cidr, formatAddress, formatCidr } from '../validation/addresses.js'
import { bandOf, IP_BAND } from './band.js'

const MAX_RANDOM = 2 ** 48

export class IPRange {
  readonly cidr: string
  readonly bits: 32 | 128
  readonly #network: bigint
  readonly #first: bigint
  readonly #last: bigint
  readonly #band: bigint

  constructor(cidr: Cidr) {
    this.cidr = formatCidr(cidr)
    this.bits = cidr.address.bits
    this.#network = cidr.network
    const all = 1n << BigInt(this.bits - cidr.prefix)
    this.#first = cidr.network + 1n
    // The last address of an IPv4 range is the one for broadcasts.
    this.#last = cidr.network + all - (this.bits === 32 ? 2n : 1n)
    this.#band = BigInt(bandOf(Number(all > BigInt(MAX_RANDOM) ? BigInt(MAX_RANDOM) : all), IP_BAND))
  }

  get family(): 'IPv4' | 'IPv6' {
    return this.bits === 32 ? 'IPv4' : 'IPv6'
  }

  contains({ bits, value }: Address): boolean {
    return bits === this.bits && value >= this.#first && value <= this.#last
  }

  /** The address of the network itself: what a dry run is told. */
  get networkAddress(): string {
    return this.#text(this.#network)
  }

  /** Undefined when there is none. */
  get firstAddress(): string | undefined {
    return this.#first <= this.#last ? this.#text(this.#first) : undefined
  }

  /** Every address once: the upper band from a random place on, then the lower one. */
  *candidates(random: Random): Generator<string> {
    const upper = this.#first + this.#band
    yield* this.#from(upper, this.#last, random)
    yield* this.#from(this.#first, upper - 1n, random)
  }

  *#from(first: bigint, last: bigint, random: Random): Generator<string> {
    const size = last - first + 1n
    if (size <= 0n) return
    const start = (BigInt(Math.floor(random() * MAX_RANDOM)) * size) / BigInt(MAX_RANDOM)
    for (let i = 0n; i < size; i++) yield this.#text(first + ((start + i) % size))
  }

  #text(value: bigint): string {
    return formatAddress({ bits: this.bits, value })
  }
}
