/** Thread: any. Encryption at rest: between encoded bytes and stored bytes. transformers/ holds the providers. */

export interface TransformResult {
  readonly data: Uint8Array
  /** The value was not written with the newest key: an update must rewrite it even when nothing changed. */
  readonly stale: boolean
}

/** `authenticatedData` is the storage key of the value: a ciphertext moved to another key does not decrypt. */
export interface Transformer {
  /** Synchronous wherever no remote key service has to be asked, so that the hot path has no await. */
  transformFromStorage(data: Uint8Array, authenticatedData: string): TransformResult | Promise<TransformResult>
  transformToStorage(data: Uint8Array, authenticatedData: string): Uint8Array | Promise<Uint8Array>
}

export const identityTransformer: Transformer = {
  transformFromStorage: (data) => ({ data, stale: false }),
  transformToStorage: (data) => data,
}
