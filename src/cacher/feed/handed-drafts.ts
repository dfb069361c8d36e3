/**
 * Thread: owner. Drafts that threads of this process made of what they are writing to etcd, on their way while the write
 * is. When the watch brings the very bytes that a draft was made of, it need not be made again: that saves four fifths of
 * what an event costs. A draft of other bytes, or of a write that failed, is never used.
 *
 * Limits: MAX_DRAFTS and MAX_BYTES; the oldest go first, and their events are decoded like anybody else's.
 */
import type { HandedDraft } from '../../protocol/reader-owner.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { KeyValue } from '../../storage/contract/kv.js'

/** More than are ever under way at once: a pool thread has 128 tasks. */
const MAX_DRAFTS = 2048
/** Of values and bodies together: large objects are rare, and a storm of them must not be held twice. */
const MAX_BYTES = 32 * 2 ** 20

export class HandedDrafts {
  /** By key, in the order in which they came. */
  readonly #drafts = new Map<string, HandedDraft>()

  #bytes = 0

  get size(): number {
    return this.#drafts.size
  }

  get bytes(): number {
    return this.#bytes
  }

  add(drafts: readonly HandedDraft[]): void {
    for (const draft of drafts) {
      this.#drop(draft.key)
      this.#drafts.set(draft.key, draft)
      this.#bytes += bytesOf(draft)
    }
    for (const key of this.#drafts.keys()) {
      if (this.#drafts.size <= MAX_DRAFTS && this.#bytes <= MAX_BYTES) return
      this.#drop(key)
    }
  }

  /** The draft of exactly this value; it is gone then. */
  take({ key, value }: KeyValue): RecordDraft | undefined {
    const handed = this.#drafts.get(key)
    if (handed === undefined || Buffer.compare(handed.value, value) !== 0) return undefined
    this.#drop(key)
    return handed.draft
  }

  clear(): void {
    this.#drafts.clear()
    this.#bytes = 0
  }

  #drop(key: string): void {
    const known = this.#drafts.get(key)
    if (known === undefined) return
    this.#drafts.delete(key)
    this.#bytes -= bytesOf(known)
  }
}

const bytesOf = ({ value, draft }: HandedDraft): number => value.byteLength + draft.body.byteLength
