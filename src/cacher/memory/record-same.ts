/**
 * Thread: owner. Tells whether a record already holds what a draft would make it hold, so that it need not be written
 * again.
 */
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { RecordReader } from './record-reader.js'

export function sameObject(
  record: RecordReader,
  draft: RecordDraft,
  modRevision: number,
  createRevision: number,
): boolean {
  return (
    record.modRevision === modRevision &&
    record.createRevision === createRevision &&
    record.uid === draft.uid &&
    record.revisionOffset === draft.revisionOffset &&
    sameBody(record.body(), draft, String(modRevision).length) &&
    sameTexts(record.labels.toArray(), draft.labels) &&
    sameTexts(record.fields.toArray(), draft.fields)
  )
}

function sameBody(body: Uint8Array, draft: RecordDraft, digits: number): boolean {
  const split = draft.revisionOffset
  if (body.length !== draft.body.length + digits) return false
  return (
    Buffer.compare(body.subarray(0, split), draft.body.subarray(0, split)) === 0 &&
    Buffer.compare(body.subarray(split + digits), draft.body.subarray(split)) === 0
  )
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i])
}
