/** Thread: any. Stored bytes that a provider cannot read, or a provider that cannot write just now. */

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
