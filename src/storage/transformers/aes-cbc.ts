/**
 * Thread: any. AES-CBC with PKCS#7 padding: 16 bytes of IV, ciphertext. Nothing authenticates it, neither content nor
 * storage key: it exists to read and write what others have written so.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { TransformError } from '../contract/transform-error.js'
import type { Transformer, TransformResult } from '../contract/transformer.js'
import { concatBytes } from './bytes.js'

const BLOCK_SIZE = 16

export class AesCbcTransformer implements Transformer {
  readonly #key: Uint8Array
  readonly #cipher: string

  constructor(key: Uint8Array) {
    this.#key = key
    this.#cipher = `aes-${key.length * 8}-cbc`
  }

  transformFromStorage(data: Uint8Array): TransformResult {
    if (data.length < 2 * BLOCK_SIZE) {
      throw new TransformError('malformed', 'the stored data is shorter than an AES-CBC IV and one block')
    }
    if (data.length % BLOCK_SIZE !== 0) {
      throw new TransformError('malformed', 'the stored data is not a whole number of AES blocks')
    }
    const decipher = createDecipheriv(this.#cipher, this.#key, data.subarray(0, BLOCK_SIZE))
    const head = decipher.update(data.subarray(BLOCK_SIZE))
    try {
      return { data: concatBytes(head, decipher.final()), stale: false }
    } catch (cause) {
      throw new TransformError('malformed', 'the padding of the stored data is wrong', cause)
    }
  }

  transformToStorage(data: Uint8Array): Uint8Array {
    const iv = randomBytes(BLOCK_SIZE)
    const cipher = createCipheriv(this.#cipher, this.#key, iv)
    return concatBytes(iv, cipher.update(data), cipher.final())
  }
}
