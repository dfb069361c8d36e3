/**
 * Thread: any. AES-GCM with a key of its own for every write, derived from a seed: 32 random bytes of info, then what
 * AES-GCM writes. HKDF-SHA256, expand only, gives the key; so one seed may serve any number of writes, processes and
 * restarts. A derived key is not kept: deriving takes 3 to 5 µs beside the 11 µs of opening a 4 KB value, and a cache
 * of keys by path would grow with every new object.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { TransformError } from '../contract/transform-error.js'
import type { Transformer, TransformResult } from '../contract/transformer.js'
import { openAesGcm, sealAesGcm } from './aes-gcm.js'

export const SEED_SIZE = 32
const INFO_SIZE = 32
/** The counter of HKDF's first block; one block of SHA-256 is the whole key. */
const FIRST_BLOCK = Uint8Array.of(1)

export class ExtendedNonceGcmTransformer implements Transformer {
  readonly #seed: Uint8Array

  constructor(seed: Uint8Array) {
    if (seed.length < SEED_SIZE) {
      throw new TransformError('malformed', `a seed of ${seed.length} bytes is too short, it needs ${SEED_SIZE}`)
    }
    this.#seed = seed
  }

  transformFromStorage(data: Uint8Array, authenticatedData: string): TransformResult {
    if (data.length < INFO_SIZE) {
      throw new TransformError('malformed', 'the stored data is shorter than the info its key is derived from')
    }
    const key = this.#derive(data.subarray(0, INFO_SIZE))
    return { data: openAesGcm(key, data.subarray(INFO_SIZE), authenticatedData), stale: false }
  }

  transformToStorage(data: Uint8Array, authenticatedData: string): Uint8Array {
    const info = randomBytes(INFO_SIZE)
    return sealAesGcm(this.#derive(info), data, authenticatedData, info)
  }

  #derive(info: Uint8Array): Uint8Array {
    return createHmac('sha256', this.#seed).update(info).update(FIRST_BLOCK).digest()
  }
}
