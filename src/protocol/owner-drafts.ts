/**
 * Thread: any. The whole contract between the owner and the threads that make drafts for it while it lists a large resource. A thread
 * says `ready`; then the owner sends pages, and each is answered in order. Bytes are transferred, texts cloned.
 */
import type { RecordDraft } from './record-draft.js'

export interface DraftThreadData {
  /** What the thread needs to understand objects, in plain data. */
  readonly options: unknown
}

/** Parts of one buffer, one after another: part i ends at `ends[i]`. */
export interface PackedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly ends: Uint32Array<ArrayBuffer>
}

/** Decrypted objects of one resource, as they are stored. */
export interface DraftPage {
  readonly resource: string
  readonly values: PackedBytes
}

export type DraftAnswer = { readonly type: 'ready' } | ({ readonly type: 'drafts' } & PackedDrafts)

export interface PackedDrafts {
  readonly bodies: PackedBytes
  /** Where in its body each revision goes; UNREADABLE for an object that could not be read. */
  readonly revisionOffsets: Uint32Array<ArrayBuffer>
  /** Of each object: its uid, its labels, its fields. */
  readonly texts: readonly string[]
  /** Of each object: how many texts are labels, and how many are fields. */
  readonly counts: Uint32Array<ArrayBuffer>
}

const UNREADABLE = 0xffff_ffff

export function packBytes(parts: readonly Uint8Array[]): PackedBytes {
  const ends = new Uint32Array(parts.length)
  let end = 0
  for (const [i, part] of parts.entries()) {
    end += part.byteLength
    ends[i] = end
  }
  const bytes = new Uint8Array(end)
  for (const [i, part] of parts.entries()) bytes.set(part, i === 0 ? 0 : ends[i - 1]!)
  return { bytes, ends }
}

/** Views of the parts; all of them keep the one buffer alive. */
export const unpackBytes = ({ bytes, ends }: PackedBytes): Uint8Array[] =>
  Array.from(ends, (end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1]!, end))

export function packDrafts(drafts: readonly (RecordDraft | undefined)[]): PackedDrafts {
  const revisionOffsets = new Uint32Array(drafts.length).fill(UNREADABLE)
  const counts = new Uint32Array(drafts.length * 2)
  const texts: string[] = []
  for (const [i, draft] of drafts.entries()) {
    if (draft === undefined) continue
    revisionOffsets[i] = draft.revisionOffset
    counts[2 * i] = draft.labels.length
    counts[2 * i + 1] = draft.fields.length
    texts.push(draft.uid, ...draft.labels, ...draft.fields)
  }
  return { bodies: packBytes(drafts.map((draft) => draft?.body ?? NOTHING)), revisionOffsets, texts, counts }
}

/** In the order of the page; undefined for an object that could not be read. */
export function unpackDrafts({ bodies, revisionOffsets, texts, counts }: PackedDrafts): (RecordDraft | undefined)[] {
  let next = 0
  const take = (count: number): readonly string[] => {
    next += count
    return count === 0 ? NO_TEXTS : texts.slice(next - count, next)
  }
  return unpackBytes(bodies).map((body, i) => {
    const revisionOffset = revisionOffsets[i]!
    if (revisionOffset === UNREADABLE) return undefined
    const uid = texts[next++]!
    return { uid, labels: take(counts[2 * i]!), fields: take(counts[2 * i + 1]!), body, revisionOffset }
  })
}

const NOTHING = new Uint8Array(0)
const NO_TEXTS: readonly string[] = []
