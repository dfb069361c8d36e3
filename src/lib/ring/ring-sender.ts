/**
 * Thread: any. Writes frames into a ring and wakes its reader where it sleeps. A frame is numbers, texts and bytes in an
 * order that both ends know. All texts of a frame are encoded together: one call for them all costs as much as one for
 * each.
 */
import { assert } from '../assert.js'
import { aligned, DATA_BYTE, FRAME_HEADER_BYTES, HEAD, PARKED, SKIP, TAIL } from './ring-layout.js'

/** The most words of a frame; one with more is not sent. */
const MAX_WORDS = 4096

export class RingSender {
  readonly #control: Int32Array
  readonly #lengths: Int32Array
  readonly #places: Float64Array
  readonly #bytes: Buffer
  readonly #capacity: number
  readonly #wake: () => void
  /** The frame that is being put together. */
  readonly #words = new Float64Array(MAX_WORDS)
  #wordCount = 0
  #text = ''
  readonly #blobs: Uint8Array[] = []
  #blobBytes = 0

  constructor(memory: SharedArrayBuffer, wake: () => void) {
    this.#control = new Int32Array(memory, 0, DATA_BYTE / Int32Array.BYTES_PER_ELEMENT)
    this.#lengths = new Int32Array(memory, DATA_BYTE)
    this.#places = new Float64Array(memory, DATA_BYTE)
    this.#bytes = Buffer.from(memory, DATA_BYTE)
    this.#capacity = this.#bytes.length
    this.#wake = wake
  }

  /** Begins a frame. What is left of one that was never sent, because something failed halfway, is forgotten. */
  begin(): this {
    this.#wordCount = 0
    this.#text = ''
    this.#blobs.length = 0
    this.#blobBytes = 0
    return this
  }

  number(value: number): this {
    // Writes past the end are lost, and send() sees the count.
    this.#words[this.#wordCount++] = value
    return this
  }

  text(value: string): this {
    // Its length would be no number, and every text behind it would be another one's.
    assert(typeof value === 'string', 'a text of a frame is a string')
    this.#text += value
    return this.number(value.length)
  }

  texts(values: readonly string[]): this {
    this.number(values.length)
    for (const value of values) this.text(value)
    return this
  }

  /** The bytes are copied when the frame is sent. */
  bytes(value: Uint8Array): this {
    this.#blobs.push(value)
    this.#blobBytes += value.byteLength
    return this.number(value.byteLength)
  }

  /**
   * Sends the frame. False when it is larger than a quarter of the ring or there is no room for it now: then nothing
   * was sent, and it has to go another way.
   */
  send(): boolean {
    const sent = this.#wordCount <= MAX_WORDS && this.#put()
    this.begin()
    if (sent && Atomics.exchange(this.#control, PARKED, 0) === 1) this.#wake()
    return sent
  }

  #put(): boolean {
    const wordBytes = this.#wordCount * Float64Array.BYTES_PER_ELEMENT
    const textBytes = Buffer.byteLength(this.#text)
    const frameBytes = aligned(FRAME_HEADER_BYTES + wordBytes + textBytes + this.#blobBytes)
    const at = this.#place(frameBytes)
    if (at === undefined) return false
    const header = at / Int32Array.BYTES_PER_ELEMENT
    this.#lengths[header] = frameBytes
    this.#lengths[header + 1] = this.#wordCount
    this.#lengths[header + 2] = textBytes
    this.#places.set(
      this.#words.subarray(0, this.#wordCount),
      (at + FRAME_HEADER_BYTES) / Float64Array.BYTES_PER_ELEMENT,
    )
    let end = at + FRAME_HEADER_BYTES + wordBytes
    end += this.#bytes.write(this.#text, end)
    for (const blob of this.#blobs) {
      this.#bytes.set(blob, end)
      end += blob.byteLength
    }
    Atomics.add(this.#control, HEAD, frameBytes)
    return true
  }

  /** Where a frame of this size goes; what is left at the end of the ring is skipped when it is too little. */
  #place(frameBytes: number): number | undefined {
    if (frameBytes > this.#capacity / 4) return undefined
    const head = this.#control[HEAD]! >>> 0
    const used = (head - Atomics.load(this.#control, TAIL)) >>> 0
    const at = head & (this.#capacity - 1)
    const left = this.#capacity - at
    if (frameBytes <= left) return used + frameBytes <= this.#capacity ? at : undefined
    if (used + left + frameBytes > this.#capacity) return undefined
    this.#lengths[at / Int32Array.BYTES_PER_ELEMENT] = SKIP
    // The receiver may see this step before the frame is there: then it finds the ring empty.
    Atomics.add(this.#control, HEAD, left)
    return 0
  }
}
