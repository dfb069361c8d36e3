/**
 * Thread: owner. Drafts that threads of this process made of what they are writing to etcd, on their way while the write
 * is. When the watch brings the very bytes that a draft was made of, it need not be made again: that saves four fifths of
 * what an event costs. A draft of other bytes, or of a write that failed, is never used.
 *
 * Limit: MAX_DRAFTS; the oldest go first, and their events are decoded like anybody else's.
 */
import type { HandedDraft } from '../../protocol/reader-owner.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { KeyValue } from '../../storage/contract/kv.js'

/** More than are ever under way at once: a pool thread has 128 tasks. */
const MAX_DRAFTS = 2048

export class HandedDrafts {
  /** By key, in the order in which they came. */
  readonly #drafts = new Map<string, HandedDraft>()

  get size(): number {
    return this.#drafts.size
  }

  add(drafts: readonly HandedDraft[]): void {
    for (const draft of drafts) {
      this.#drafts.delete(draft.key)
      this.#drafts.set(draft.key, draft)
    }
    if (this.#drafts.size <= MAX_DRAFTS) return
    for (const key of this.#drafts.keys()) {
      this.#drafts.delete(key)
      if (this.#drafts.size <= MAX_DRAFTS) return
    }
  }

  /** The draft of exactly this value; it is gone then. */
  take({ key, value }: KeyValue): RecordDraft | undefined {
    const handed = this.#drafts.get(key)
    if (handed === undefined || Buffer.compare(handed.value, value) !== 0) return undefined
    this.#drafts.delete(key)
    return handed.draft
  }
}
