/** Thread: any. The failures a storage may report; registry/generic/storage-status.ts turns each code into a Status. */

export type StorageErrorCode =
  | 'key-not-found'
  | 'key-exists'
  /** The object changed between read and write and the caller asked not to retry. */
  | 'conflict'
  /** A precondition (uid, resourceVersion) does not hold, or the object itself cannot be stored. */
  | 'invalid-object'
  /** The revision was compacted, or has left the window: 410 Expired. */
  | 'too-old'
  /** The revision is not there yet: 504 with a retry hint. */
  | 'too-large'
  /** Nothing answered in time; the outcome of a write is unknown. */
  | 'unreachable'
  /** The stored bytes cannot be decrypted or decoded. */
  | 'corrupt-object'
  /** resourceVersion was set on an object to be created. */
  | 'resource-version-set'
  /** A malformed key, continue token, or combination of list options. */
  | 'invalid-request'
  /** The value is larger than the store takes. */
  | 'value-too-large'
  /** The disk is full, or etcd has raised its space alarm: reads go on, writes do not. */
  | 'no-space'
  /** The storage is not ready yet (its cache still fills), or is closed. */
  | 'not-ready'

export interface StorageErrorFields {
  readonly key?: string
  readonly resourceVersion?: number
  /** too-old: the revision up to which history is gone. */
  readonly compactRevision?: number
  /** too-large: the current revision. */
  readonly currentRevision?: number
  /** too-old for a continue token: a token that goes on from the same key at the newest revision. */
  readonly continueToken?: string
  readonly retryAfterSeconds?: number
  /** unreachable: there was no connection, so nothing was asked of anybody. */
  readonly notSent?: boolean
  readonly cause?: unknown
}

export class StorageError extends Error {
  override readonly name = 'StorageError'
  readonly code: StorageErrorCode
  readonly fields: StorageErrorFields

  constructor(code: StorageErrorCode, message: string, fields: StorageErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.code = code
    this.fields = fields
  }
}

export function isStorageError(error: unknown, code?: StorageErrorCode): error is StorageError {
  return error instanceof StorageError && (code === undefined || error.code === code)
}

export const isNotFound = (error: unknown): boolean => isStorageError(error, 'key-not-found')
export const isTooOld = (error: unknown): boolean => isStorageError(error, 'too-old')
export const isUnreachable = (error: unknown): boolean => isStorageError(error, 'unreachable')
export const isCorruptObject = (error: unknown): boolean => isStorageError(error, 'corrupt-object')

export function keyNotFound(key: string): StorageError {
  return new StorageError('key-not-found', `key ${key} not found`, { key })
}
