/** Thread: owner. What the watch cache has to know of a resource to keep it in memory. */
import type { RecordDraft } from '../../protocol/record-draft.js'
import type { Transformer } from '../../storage/contract/transformer.js'
import type { ArenaWriter } from '../memory/shared-memory.js'

export interface ResourceRegistration {
  /** As clients know it: `pods`, `deployments.apps`. */
  readonly resource: string
  /** Of all its keys in the store, with the slash at the end: `/registry/pods/`. */
  readonly keyPrefix: string
  /**
   * A new arena for it, once the one before is closed. Memory that stopped following the stream is never used again: a
   * reader that finds its arena ready after it has read knows that what it read was right.
   */
  readonly createArena: () => ArenaWriter
  readonly transformer: Transformer
  /** From decrypted bytes to what shared memory keeps; throws on bytes that it cannot read. */
  readonly recordDraft: (data: Uint8Array, key: string) => RecordDraft
}

/** Why a resource is read from its storage. */
export type FallbackReason = 'corrupt-object' | 'key-service' | 'memory-limit'

export type ResourceStatus =
  | { readonly state: 'filling' | 'ready' | 'closed' }
  | { readonly state: 'fallen'; readonly reason: FallbackReason; readonly message: string }
