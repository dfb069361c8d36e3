/**
 * Thread: owner. Drafts that threads of this process made of objects they are writing to etcd; they arrive while the
 * write is under way. When the watch brings exactly the bytes that a draft was made of, the event need not be decoded,
 * which saves four fifths of its cost. A draft of other bytes, or of a write that failed, is never used.
 *
 * Limits: MAX_DRAFTS and MAX_BYTES. The oldest drafts are dropped first, and their events are decoded like those of
 * other writers.
 */
import type { HandedDraft } from '../../protocol/reader-owner.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { KeyValue } from '../../storage/contract/kv.js'

/** More drafts than are ever under way at once: a pool thread has at most 128 tasks. */
const MAX_DRAFTS = 2048
/** The limit of values and bodies together: large objects are rare, and a storm of them must not be held twice. */
const MAX_BYTES = 32 * 2 ** 20

export class HandedDrafts {
  /** Drafts by key, in the order in which they came. */
  readonly #drafts = new Map<string, HandedDraft & { readonly reader: number }>()

  #bytes = 0

  get size(): number {
    return this.#drafts.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** `reader`: the number of the thread that made them. */
  add(drafts: readonly HandedDraft[], reader: number): void {
    for (const draft of drafts) {
      this.#drop(draft.key)
      this.#drafts.set(draft.key, { ...draft, reader })
      this.#bytes += bytesOf(draft)
    }
    for (const key of this.#drafts.keys()) {
      if (this.#drafts.size <= MAX_DRAFTS && this.#bytes <= MAX_BYTES) return
      this.#drop(key)
    }
  }

  /** Gives the draft that was made of exactly this value, and forgets it. */
  take({ key, value }: KeyValue): RecordDraft | undefined {
    const handed = this.#drafts.get(key)
    if (handed === undefined || Buffer.compare(handed.value, value) !== 0) return undefined
    this.#drop(key)
    return handed.draft
  }

  /**
   * Drops the drafts of a thread that has ended: nobody knows what became of its writes, and most events of them will
   * never come.
   */
  forget(reader: number): void {
    for (const [key, draft] of this.#drafts) if (draft.reader === reader) this.#drop(key)
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
