/** Thread: owner. What the owner has to be given to understand the objects it caches. */
import type { MessagePort } from 'node:worker_threads'
import type { Recorder } from '../../metrics/recorder.js'
import type { OwnerResource } from '../../protocol/main-owner.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { Transformer } from '../../storage/contract/transformer.js'

export interface OwnerResources {
  /** The transformer that decrypts what is stored. */
  transformer(resource: OwnerResource): Transformer
  /** Makes of decrypted bytes what shared memory keeps; throws on bytes that it cannot read. */
  recordDraft(resource: OwnerResource): (data: Uint8Array, key: string) => RecordDraft
  /** Given a line to the memory that this thread itself writes, for what is found there: definitions. */
  attached?(port: MessagePort): Promise<void>
  /** Called when the resource is not cached any more. */
  removed?(resource: OwnerResource): void
  close?(): Promise<void> | void
}

/** A module that the thread loads by its URL, since functions cannot be posted. */
export interface OwnerResourceModule {
  openOwnerResources(options: unknown, recorder: Recorder): Promise<OwnerResources> | OwnerResources
}
