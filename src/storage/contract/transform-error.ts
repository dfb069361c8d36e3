/** Thread: any. Stored bytes that a provider cannot read, or a provider that cannot write just now. */
import { StorageError } from './errors.js'

export type TransformErrorCode =
  /** Too short, wrong padding, not the message it should be. */
  | 'malformed'
  /** The key, the storage key or a byte of it is not the one it was written with. */
  | 'authentication'
  /** Plain text was expected and this carries the mark of encryption. */
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

/** The key service could not be asked, or did not answer: that says nothing about the stored bytes. */
export const isKeyServiceFailure = (error: unknown): error is TransformError =>
  error instanceof TransformError && error.code === 'kms'

/** Whoever reads is told that the storage cannot be reached; nothing may be deleted because of it. */
export const keyServiceUnreachable = (key: string, cause: TransformError): StorageError =>
  new StorageError(
    'unreachable',
    `the object stored at ${JSON.stringify(key)} cannot be decrypted now: ${cause.message}`,
    {
      key,
      cause,
    },
  )
