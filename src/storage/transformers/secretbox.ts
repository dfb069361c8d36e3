/**
 * Thread: any. NaCl secretbox (XSalsa20-Poly1305): 24 bytes of nonce, 16 bytes of tag, ciphertext. The content is
 * authenticated, the storage key is not: the construction has no room for it.
 */
import { randomBytes } from 'node:crypto'
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import { TransformError } from '../contract/transform-error.js'
import type { Transformer, TransformResult } from '../contract/transformer.js'
import { concatBytes } from './bytes.js'

export const SECRETBOX_KEY_SIZES: readonly number[] = [32]

const NONCE_SIZE = 24
const TAG_SIZE = 16

export class SecretboxTransformer implements Transformer {
  readonly #key: Uint8Array

  constructor(key: Uint8Array) {
    this.#key = key
  }

  transformFromStorage(data: Uint8Array): TransformResult {
    if (data.length < NONCE_SIZE + TAG_SIZE) {
      throw new TransformError('malformed', 'the stored data is shorter than a secretbox nonce and tag')
    }
    const box = xsalsa20poly1305(this.#key, data.subarray(0, NONCE_SIZE))
    try {
      return { data: box.decrypt(data.subarray(NONCE_SIZE)), stale: false }
    } catch (cause) {
      throw new TransformError('authentication', 'secretbox authentication of the stored data failed', cause)
    }
  }

  transformToStorage(data: Uint8Array): Uint8Array {
    const nonce = randomBytes(NONCE_SIZE)
    return concatBytes(nonce, xsalsa20poly1305(this.#key, nonce).encrypt(data))
  }
}
