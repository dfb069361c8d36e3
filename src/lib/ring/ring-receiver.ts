/**
 * Thread: any. Reads the frames of a ring: as many in a turn of the loop as it is told, the rest in the next ones, so
 * that what else the thread has to do is done in between. When the ring is empty it sleeps until wake() is called.
 *
 *   asleep (parked) ──wake()──▶ reading ──nothing left──▶ asleep
 *                                  └──enough for a turn──▶ reading again in the next
 */
import { DATA_BYTE, FRAME_HEADER_BYTES, HEAD, PARKED, SKIP, TAIL } from './ring-layout.js'

/** The frame that is being read; it reads the fields in the order in which they were written. */
export interface Frame {
  number(): number
  text(): string
  texts(): string[]
  /** A copy. */
  bytes(): Uint8Array<ArrayBuffer>
}

export interface RingReceiverOptions {
  readonly memory: SharedArrayBuffer
  /** Must read what it needs before it returns: the place is given back then. */
  readonly take: (frame: Frame) => void
  /** How many frames are taken in a turn of the loop. */
  readonly framesPerTurn: number
}

export class RingReceiver {
  readonly #options: RingReceiverOptions
  readonly #control: Int32Array
  readonly #lengths: Int32Array
  readonly #places: Float64Array
  readonly #bytes: Buffer
  readonly #capacity: number
  #reading = false
  #stopped = false
  #word = 0
  #text = ''
  #textAt = 0
  #blobAt = 0
  readonly #frame: Frame = {
    number: () => this.#places[this.#word++]!,
    text: () => this.#nextText(),
    texts: () => Array.from({ length: this.#places[this.#word++]! }, () => this.#nextText()),
    bytes: () => this.#nextBytes(),
  }

  constructor(options: RingReceiverOptions) {
    const { memory } = options
    this.#options = options
    this.#control = new Int32Array(memory, 0, DATA_BYTE / Int32Array.BYTES_PER_ELEMENT)
    this.#lengths = new Int32Array(memory, DATA_BYTE)
    this.#places = new Float64Array(memory, DATA_BYTE)
    this.#bytes = Buffer.from(memory, DATA_BYTE)
    this.#capacity = this.#bytes.length
  }

  /** To be called when the sender's word comes that there is something to read. */
  wake(): void {
    if (this.#reading || this.#stopped) return
    this.#reading = true
    this.#turn()
  }

  /** Takes no frame any more. */
  stop(): void {
    this.#stopped = true
  }

  #turn(): void {
    try {
      this.#takeSome()
    } catch (error) {
      // Whoever failed on a frame is told; the frames behind it are others' and are read all the same.
      if (!this.#stopped) setImmediate(() => this.#turn())
      throw error
    }
  }

  #takeSome(): void {
    for (let taken = 0; taken < this.#options.framesPerTurn && !this.#stopped; taken++) {
      if (this.#next()) continue
      this.#reading = false
      Atomics.store(this.#control, PARKED, 1)
      // What the sender wrote before it could see that this thread sleeps is looked for once more.
      if (this.#isEmpty() || Atomics.exchange(this.#control, PARKED, 0) === 0) return
      this.#reading = true
    }
    if (!this.#stopped) setImmediate(() => this.#turn())
  }

  #isEmpty(): boolean {
    return Atomics.load(this.#control, HEAD) === this.#control[TAIL]
  }

  #next(): boolean {
    if (this.#isEmpty()) return false
    let at = this.#tail()
    if (this.#lengths[at / Int32Array.BYTES_PER_ELEMENT] === SKIP) {
      Atomics.add(this.#control, TAIL, this.#capacity - at)
      if (this.#isEmpty()) return false
      at = this.#tail()
    }
    const header = at / Int32Array.BYTES_PER_ELEMENT
    const frameBytes = this.#lengths[header]!
    this.#word = (at + FRAME_HEADER_BYTES) / Float64Array.BYTES_PER_ELEMENT
    const textAt = (this.#word + this.#lengths[header + 1]!) * Float64Array.BYTES_PER_ELEMENT
    this.#blobAt = textAt + this.#lengths[header + 2]!
    this.#text = this.#bytes.toString('utf8', textAt, this.#blobAt)
    this.#textAt = 0
    try {
      this.#options.take(this.#frame)
    } finally {
      Atomics.add(this.#control, TAIL, frameBytes)
    }
    return true
  }

  #tail(): number {
    return this.#control[TAIL]! & (this.#capacity - 1)
  }

  #nextText(): string {
    const length = this.#places[this.#word++]!
    const from = this.#textAt
    this.#textAt += length
    return this.#text.slice(from, this.#textAt)
  }

  #nextBytes(): Uint8Array<ArrayBuffer> {
    const length = this.#places[this.#word++]!
    const copy = new Uint8Array(length)
    copy.set(this.#bytes.subarray(this.#blobAt, this.#blobAt + length))
    this.#blobAt += length
    return copy
  }
}
