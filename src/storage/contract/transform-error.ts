/**
 * Thread: any. The failures of encryption at rest: stored bytes that a provider cannot read, or a provider that cannot
 * write now.
 */
import { StorageError } from './errors.js'

export type TransformErrorCode =
  /** The bytes are too short, wrongly padded, or not the message they should be. */
  | 'malformed'
  /** The encryption key, the storage key or a byte is not the one that the value was written with. */
  | 'authentication'
  /** Plain text was expected, and the bytes carry the mark of encryption. */
  | 'encrypted'
  /** No provider, or no key of the provider, claims these bytes. */
  | 'no-match'
  /** The key service failed, answered nonsense, or has been away for too long. */
  | 'kms'

export class TransformError extends Error {
  override readonly name = 'TransformError'
  readonly code: TransformErrorCode

  constructor(code: TransformErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** Whether the key service could not be asked or did not answer. Such a failure says nothing about the stored bytes. */
export const isKeyServiceFailure = (error: unknown): error is TransformError =>
  error instanceof TransformError && error.code === 'kms'

/**
 * The error for a read that fails because of the key service: the storage counts as unreachable, and the object must
 * not be taken for corrupt and deleted.
 */
export const keyServiceUnreachable = (key: string, cause: TransformError): StorageError =>
  new StorageError(
    'unreachable',
    `the object stored at ${JSON.stringify(key)} cannot be decrypted now: ${cause.message}`,
    {
      key,
      cause,
    },
  )
