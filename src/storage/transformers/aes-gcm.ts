/**
 * Thread: any. AES-GCM with a random nonce: 12 bytes of nonce, ciphertext, 16 bytes of tag; the storage key is
 * authenticated. A key must be rotated long before 2^32 writes, because random nonces of 96 bits start to collide.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { TransformError } from '../contract/transform-error.js'
import type { Transformer, TransformResult } from '../contract/transformer.js'
import { concatBytes } from './bytes.js'

export const AES_KEY_SIZES: readonly number[] = [16, 24, 32]

const NONCE_SIZE = 12
const TAG_SIZE = 16
const ciphers = { 16: 'aes-128-gcm', 24: 'aes-192-gcm', 32: 'aes-256-gcm' } as const

export class AesGcmTransformer implements Transformer {
  readonly #key: Uint8Array

  constructor(key: Uint8Array) {
    cipherFor(key)
    this.#key = key
  }

  transformFromStorage(data: Uint8Array, authenticatedData: string): TransformResult {
    return { data: openAesGcm(this.#key, data, authenticatedData), stale: false }
  }

  transformToStorage(data: Uint8Array, authenticatedData: string): Uint8Array {
    return sealAesGcm(this.#key, data, authenticatedData)
  }
}

/** `header` goes before the nonce as it is, unauthenticated: it has room for what the key was derived from. */
export function sealAesGcm(
  key: Uint8Array,
  data: Uint8Array,
  authenticatedData: string,
  header: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const nonce = randomBytes(NONCE_SIZE)
  const cipher = createCipheriv(cipherFor(key), key, nonce, { authTagLength: TAG_SIZE })
  cipher.setAAD(Buffer.from(authenticatedData))
  const body = cipher.update(data)
  // GCM is a stream mode: final() gives no bytes, but it makes the tag.
  cipher.final()
  return concatBytes(header, nonce, body, cipher.getAuthTag())
}

export function openAesGcm(key: Uint8Array, data: Uint8Array, authenticatedData: string): Uint8Array {
  if (data.length < NONCE_SIZE + TAG_SIZE) {
    throw new TransformError('malformed', 'the stored data is shorter than an AES-GCM nonce and tag')
  }
  const tagStart = data.length - TAG_SIZE
  const decipher = createDecipheriv(cipherFor(key), key, data.subarray(0, NONCE_SIZE), { authTagLength: TAG_SIZE })
  decipher.setAAD(Buffer.from(authenticatedData))
  decipher.setAuthTag(data.subarray(tagStart))
  const plain = decipher.update(data.subarray(NONCE_SIZE, tagStart))
  try {
    decipher.final()
  } catch (cause) {
    throw new TransformError('authentication', 'AES-GCM authentication of the stored data failed', cause)
  }
  return plain
}

function cipherFor(key: Uint8Array): (typeof ciphers)[keyof typeof ciphers] {
  const cipher = Object.hasOwn(ciphers, key.length) ? ciphers[key.length as keyof typeof ciphers] : undefined
  if (cipher === undefined) throw new TransformError('malformed', `an AES key of ${key.length} bytes is not possible`)
  return cipher
}
