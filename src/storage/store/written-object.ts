/**
 * Thread: any. An object on its way into the store, in every form that somebody needs: the bytes that are stored, the object as it will
 * be read from them, and the draft for shared memory. The JSON of the draft is printed once, and the writer is told of it.
 */
import type { PrintedObject } from '../../api/json/encode-draft.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { EncodedObject } from '../contract/interface.js'
import type { StoreCore } from './store-core.js'

/** Makes the draft that the watch cache would otherwise have to decode, of the object as stored and without a version. */
export interface Drafts<T> {
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

/** `given` is the object that was encoded. It is the one that will be read when the codec could print it. */
export function writtenObject<T>(
  { objects, drafts }: Pick<StoreCore<T>, 'objects' | 'drafts'>,
  key: string,
  given: T,
  { data, printed: known }: EncodedObject,
): WrittenObject<T> {
  const object = known === undefined ? objects.decodeUnversioned(data, key) : given
  if (drafts === undefined) return { data, object, draft: undefined, printed: undefined }
  const printed = known ?? drafts.print(object)
  return { data, object, draft: drafts.draftOf(object, printed), printed }
}
