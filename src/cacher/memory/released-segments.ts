/**
 * Thread: any. Makes this thread collect garbage when it has let go of many segments. A SharedArrayBuffer lives until
 * every thread has collected its handle of it, but V8 does not count shared memory as a thread's own: a thread with
 * little other garbage would never collect, and would keep every segment that it was ever sent.
 */
import { collectGarbage } from '../../lib/collect-garbage.js'

/**
 * So many bytes of released segments may wait for a collection, not counting those that snapshots still read. All
 * threads hold handles of the same segments, so the process keeps these bytes once, not once a thread.
 */
const WAITING_BYTES = 32 * 1024 * 1024

export class ReleasedSegments {
  readonly #collect: () => void
  readonly #collected = new FinalizationRegistry<number>((bytes) => {
    this.#waitingBytes -= bytes
    this.#readBytes = Math.min(this.#readBytes, this.#waitingBytes)
  })
  /** The bytes of the segments that were released and are not collected yet. */
  #waitingBytes = 0
  /** The part of #waitingBytes that the last collection left, because snapshots that are being read hold it. */
  #readBytes = 0
  #isCollecting = false

  constructor(collect: () => void = collectGarbage) {
    this.#collect = collect
  }

  readonly add = (buffer: SharedArrayBuffer): void => {
    this.#waitingBytes += buffer.byteLength
    this.#collected.register(buffer, buffer.byteLength)
    if (this.#isCollecting || this.#waitingBytes - this.#readBytes < WAITING_BYTES) return
    this.#isCollecting = true
    // The collection runs in a turn of its own, because the caller may be in the middle of an answer.
    setImmediate(() => {
      this.#collect()
      // The FinalizationRegistry has subtracted what was collected by the time this turn comes.
      setImmediate(() => {
        this.#readBytes = this.#waitingBytes
        this.#isCollecting = false
      }).unref()
    }).unref()
  }
}
