/** Thread: any. The identity provider: plain bytes, but never ciphertext taken for plain bytes. */

import { TransformError } from '../contract/transform-error.js'
import type { Transformer } from '../contract/transformer.js'
import { startsWithBytes } from './bytes.js'

/** The prefix of every encrypting provider starts with this; no JSON and no protobuf object does. */
const ENCRYPTED = new TextEncoder().encode('k8s:enc:')

export const encryptCheckTransformer: Transformer = {
  transformFromStorage(data) {
    if (startsWithBytes(data, ENCRYPTED)) {
      throw new TransformError('encrypted', 'the identity provider was given encrypted data')
    }
    return { data, stale: false }
  },
  transformToStorage: (data) => data,
}
