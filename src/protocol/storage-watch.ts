/**
 * Thread: any. A watch of what memory does not hold: a pool thread follows the storage and sends what the client is to see
 * over a port of the watch's own. Either side ends it by closing the port.
 *
 * Queue: at most BATCHES_UNDER_WAY batches that the front end has not taken; then the pool thread reads no further, and
 * the storage's own queue fills. Who reads slowly delays nobody else.
 */
import type { Status } from '../api/status.js'

export const BATCHES_UNDER_WAY = 2
export const BATCH_EVENTS = 64
/** A batch ends with the event that makes it so large. */
export const BATCH_BYTES = 256 * 1024

export interface StorageWatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  /** In the form that the client asked for. */
  readonly object: Uint8Array
}

/** To the front end. */
export type StorageWatchMessage =
  | { readonly type: 'events'; readonly events: readonly StorageWatchEvent[] }
  /** The last one, when something failed. */
  | { readonly type: 'error'; readonly status: Status }

/** To the pool: one batch is out of the way. */
export interface StorageWatchTaken {
  readonly type: 'taken'
}
