/**
 * Thread: any. An object on its way into the store, in every form that somebody needs: the bytes that are stored, the object as it will
 * be read from them, and the draft for shared memory. The JSON of the draft is printed once, and the writer is told of it.
 */
import type { PrintedObject } from '../../api/json/encode-draft.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { EncodedObject } from '../contract/interface.js'
import type { StoredObjects } from './stored-object.js'

/** Makes the draft that the watch cache would otherwise have to decode, of the object as stored and without a version. */
export interface Drafts<T> {
  /** Whether memory has the same text of the same object whoever brought it there. */
  readonly isOneText: boolean
  print(object: T): PrintedObject
  draftOf(object: T, printed: PrintedObject): RecordDraft
}

export interface WrittenObject<T> {
  readonly data: Uint8Array
  /** As it will be read; it gets its version when the write has one. */
  readonly object: T
  readonly draft: RecordDraft | undefined
  readonly printed: PrintedObject | undefined
}

/** `given` is the object that was encoded. It is the one that will be read when the codec could print it, or says so. */
export function writtenObject<T>(
  { objects, drafts }: { readonly objects: StoredObjects<T>; readonly drafts: Drafts<T> | undefined },
  key: string,
  given: T,
  { data, printed: known, isAsRead }: EncodedObject,
): WrittenObject<T> {
  const object = known === undefined && isAsRead !== true ? objects.decodeUnversioned(data, key) : given
  if (drafts === undefined) return { data, object, draft: undefined, printed: undefined }
  const printed = known ?? drafts.print(object)
  return { data, object, draft: drafts.draftOf(object, printed), printed }
}

/** Whether the body, which has a revision, and the draft, which has a place for one, are otherwise the same. */
export function isSameText({ body, revisionOffset }: RecordDraft, known: Uint8Array): boolean {
  const digits = known.length - body.length
  if (digits < 0) return false
  const end = revisionOffset + digits
  for (let at = revisionOffset; at < end; at++) if (known[at]! < 0x30 || known[at]! > 0x39) return false
  return (
    Buffer.compare(body.subarray(0, revisionOffset), known.subarray(0, revisionOffset)) === 0 &&
    Buffer.compare(body.subarray(revisionOffset), known.subarray(end)) === 0
  )
}
