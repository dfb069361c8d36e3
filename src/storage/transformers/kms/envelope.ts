/**
 * Thread: any. KMS v2 envelope encryption: objects are encrypted with data keys that we make, and the data keys with a
 * key of the plugin. The plugin is asked only for data keys that are not known yet, so reads and writes are synchronous
 * but for the first of each data key.
 */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../lib/clock.js'
import { TransformError } from '../../contract/transform-error.js'
import type { Transformer, TransformResult } from '../../contract/transformer.js'
import { AesGcmTransformer } from '../aes-gcm.js'
import { ExpiringCache } from '../expiring-cache.js'
import { ExtendedNonceGcmTransformer } from '../extended-nonce-gcm.js'
import {
  type DekSource,
  DekSourceType,
  decodeEncryptedObject,
  dekSourceCacheKey,
  type EncryptedObject,
  encodeEncryptedObject,
  hashOfKeyId,
} from './encrypted-object.js'
import { type KeyCounter, noKeyCounter } from './key-counter.js'
import type { KmsService } from './kms-service.js'

/** The data key that new values are written with. */
export interface WriteState {
  readonly source: DekSource
  readonly cacheKey: string
  readonly transformer: Transformer
  /** When writes with the key end, in wall time; reads go on after it. */
  readonly expiresAtMs: number
}

export interface EnvelopeTransformerOptions {
  readonly service: KmsService
  /** Throws `kms` when there has never been a data key. */
  readonly currentState: () => WriteState
  readonly clock: Clock
  readonly keys?: KeyCounter
}

/** One entry for each data key in use: about the plugin's key IDs times the restarts of all servers in a day. */
const DEK_CACHE_TTL_MS = 24 * 60 * 60 * 1000

/**
 * A data key that was read from storage only decrypts. It must not encrypt, because the nonces it was used with are not
 * known.
 */
type DekReader = Pick<Transformer, 'transformFromStorage'>

export class EnvelopeTransformer implements Transformer {
  readonly #service: KmsService
  readonly #currentState: () => WriteState
  readonly #clock: Clock
  readonly #keys: KeyCounter
  readonly #deks: ExpiringCache<DekReader>
  /** Questions to the plugin that are under way, so that many objects under one unknown key ask once. */
  readonly #asked = new Map<string, Promise<DekReader>>()

  constructor({ service, currentState, clock, keys = noKeyCounter }: EnvelopeTransformerOptions) {
    this.#keys = keys
    this.#service = service
    this.#currentState = currentState
    this.#clock = clock
    this.#deks = new ExpiringCache({ ttlMs: DEK_CACHE_TTL_MS, clock })
  }

  transformFromStorage(data: Uint8Array, authenticatedData: string): TransformResult | Promise<TransformResult> {
    const object = decodeEncryptedObject(data)
    const { source: current } = this.#currentState()
    const stale = object.keyId !== current.keyId || object.type !== current.type
    const cacheKey = dekSourceCacheKey(object)
    const known = this.#deks.get(cacheKey)
    if (known !== undefined) return read(known, object, authenticatedData, stale)
    return this.#ask(object, cacheKey).then((dek) => read(dek, object, authenticatedData, stale))
  }

  transformToStorage(data: Uint8Array, authenticatedData: string): Uint8Array | Promise<Uint8Array> {
    const { source, cacheKey, transformer, expiresAtMs } = this.#currentState()
    const nowMs = this.#clock.now()
    if (nowMs > expiresAtMs) {
      throw new TransformError(
        'kms',
        `the data key under key ID hash "${hashOfKeyId(source.keyId)}" expired at ${new Date(expiresAtMs).toISOString()}`,
      )
    }
    if (this.#deks.get(cacheKey) === undefined) this.#deks.set(cacheKey, transformer)
    const encryptedData = transformer.transformToStorage(data, authenticatedData)
    return encryptedData instanceof Promise
      ? encryptedData.then((bytes) => encodeEncryptedObject({ ...source, encryptedData: bytes }))
      : encodeEncryptedObject({ ...source, encryptedData })
  }

  #ask(source: DekSource, cacheKey: string): Promise<DekReader> {
    let asked = this.#asked.get(cacheKey)
    if (asked === undefined) {
      this.#keys.missed()
      asked = this.#decrypt(source, cacheKey).finally(() => this.#asked.delete(cacheKey))
      this.#asked.set(cacheKey, asked)
    }
    return asked
  }

  async #decrypt(source: DekSource, cacheKey: string): Promise<DekReader> {
    const { encryptedDekSource: ciphertext, keyId, annotations, type } = source
    const plaintext = await this.#service.decrypt(randomUUID(), { ciphertext, keyId, annotations })
    const dek = dekTransformer(type, plaintext)
    this.#deks.set(cacheKey, dek)
    return dek
  }
}

export function dekTransformer(type: DekSourceType, plaintext: Uint8Array): Transformer {
  return type === DekSourceType.AES_GCM_KEY
    ? new AesGcmTransformer(plaintext)
    : new ExtendedNonceGcmTransformer(plaintext)
}

function read(
  dek: DekReader,
  object: EncryptedObject,
  authenticatedData: string,
  stale: boolean,
): TransformResult | Promise<TransformResult> {
  const result = dek.transformFromStorage(object.encryptedData, authenticatedData)
  const mark = (r: TransformResult): TransformResult => ({ data: r.data, stale: r.stale || stale })
  return result instanceof Promise ? result.then(mark) : mark(result)
}
