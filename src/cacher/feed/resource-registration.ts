/** Thread: owner. What the watch cache has to know of a resource to keep it in memory. */
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { Transformer } from '../../storage/contract/transformer.js'
import type { ArenaWriter } from '../memory/shared-memory.js'

export interface ResourceRegistration {
  /** The name that clients know: `pods`, `deployments.apps`. */
  readonly resource: string
  /** The prefix of the resource's keys in the store, with the slash at the end: `/registry/pods/`. */
  readonly keyPrefix: string
  /**
   * Makes a new arena for the resource, once the one before is closed. An arena that stopped following the stream is
   * never used again, so a reader that finds its arena ready after it has read knows that what it read was right.
   */
  readonly createArena: () => ArenaWriter
  readonly transformer: Transformer
  /** Makes the record of an object from its decrypted bytes; throws on bytes that it cannot read. */
  readonly recordDraft: (data: Uint8Array, key: string) => RecordDraft
  /** Make records too, in other threads. */
  readonly draftMakers?: DraftMakers
}

/** Threads that make records of decrypted objects, a page at a time. */
export interface DraftMakers {
  /** Whether a page would be begun soon. */
  hasRoom(): boolean
  /** In the order of the values; undefined for what could not be made, of one object or of all. Never rejects. */
  drafts(values: readonly Uint8Array[]): Promise<readonly (RecordDraft | undefined)[] | undefined>
}

/** The reason for which a resource is read from its storage. */
export type FallbackReason = 'corrupt-object' | 'key-service' | 'memory-limit'

export type ResourceStatus =
  | { readonly state: 'filling' | 'ready' | 'closed' }
  | { readonly state: 'fallen'; readonly reason: FallbackReason; readonly message: string }
