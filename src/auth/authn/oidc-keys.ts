/**
 * Thread: any. The keys of an OpenID Connect issuer: found through its discovery document, kept, and asked for again when
 * a token names one that is not known, not more often than once in ten seconds.
 *
 *   empty ──load()──▶ loading ──▶ loaded ──unknown key, after a pause──▶ loading
 *     ▲──────────────────┘ failed: tried again at the next token, after a pause
 */
import { createPublicKey, type JsonWebKey } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { Json, JsonObject } from '../../api/object.js'
import type { Clock } from '../../lib/clock.js'
import { algorithmsOf, JwtError, type VerificationKey } from './jwt.js'

const PAUSE_MS = 10_000
const TIMEOUT_MS = 30_000
const MAX_DOCUMENT_BYTES = 1 << 20

export class OidcError extends Error {
  override readonly name = 'OidcError'
}

export type FetchJson = (url: string) => Promise<JsonObject>

export interface OidcKeysOptions {
  readonly issuer: string
  /** Where the discovery document is; '' for its place under the issuer. */
  readonly discoveryUrl?: string
  readonly fetchJson: FetchJson
  readonly clock: Clock
}

export class OidcKeys {
  readonly #options: OidcKeysOptions
  #keys: readonly VerificationKey[] | undefined
  #loading: Promise<readonly VerificationKey[]> | undefined
  #triedMs = Number.NEGATIVE_INFINITY

  constructor(options: OidcKeysOptions) {
    this.#options = options
  }

  /** The keys that could have made a token; undefined when they must be asked for first: load(). */
  known(keyId: string): readonly VerificationKey[] | undefined {
    if (this.#keys === undefined) return undefined
    const named = this.#keys.some(({ id }) => keyId === '' || id === keyId || id === '')
    return named || !this.#mayTry() ? this.#keys : undefined
  }

  /** Asks the issuer for its keys. Rejects with OidcError. */
  load(): Promise<readonly VerificationKey[]> {
    if (this.#loading !== undefined) return this.#loading
    if (!this.#mayTry()) {
      if (this.#keys !== undefined) return Promise.resolve(this.#keys)
      return Promise.reject(new OidcError('oidc: the keys of the issuer could not be loaded'))
    }
    this.#triedMs = this.#options.clock.monotonicMs()
    this.#loading = this.#load().finally(() => {
      this.#loading = undefined
    })
    return this.#loading
  }

  #mayTry(): boolean {
    return this.#options.clock.monotonicMs() - this.#triedMs >= PAUSE_MS
  }

  async #load(): Promise<readonly VerificationKey[]> {
    const { issuer, discoveryUrl = '', fetchJson } = this.#options
    const document = await fetchJson(discoveryUrl || `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    if (document['issuer'] !== issuer)
      throw new OidcError(`oidc: the issuer calls itself ${JSON.stringify(document['issuer'])}`)
    const address = document['jwks_uri']
    if (typeof address !== 'string' || !address.startsWith('https://'))
      throw new OidcError('oidc: the issuer names no address of its keys')
    const { keys } = await fetchJson(address)
    const found = (Array.isArray(keys) ? keys : []).map(keyOf).filter((key) => key !== undefined)
    this.#keys = found
    return found
  }
}

/** The key of a JWK; undefined for one that is for something else, or of a type that signs no tokens. */
function keyOf(jwk: Json): VerificationKey | undefined {
  if (!isObject(jwk) || (jwk['use'] !== undefined && jwk['use'] !== 'sig')) return undefined
  if (jwk['kty'] !== 'RSA' && jwk['kty'] !== 'EC') return undefined
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' })
    const able = algorithmsOf(key)
    const { kid, alg } = jwk
    return {
      id: typeof kid === 'string' ? kid : '',
      key,
      algorithms: typeof alg === 'string' ? able.filter((one) => one === alg) : able,
    }
  } catch (error) {
    if (error instanceof JwtError || error instanceof TypeError || isCryptoError(error)) return undefined
    throw error
  }
}

const isCryptoError = (error: unknown): boolean => error instanceof Error && 'code' in error

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * `ca` is PEM; undefined for the authorities of the system. The whole answer must be there in time: an issuer that sends a
 * byte now and then is as good as one that is silent.
 */
export function httpsJson(ca: string | undefined, clock: Clock, timeoutMs = TIMEOUT_MS): FetchJson {
  return (url) =>
    new Promise((resolve, reject) => {
      const deadline = clock.after(timeoutMs, () => request.destroy(new Error('no answer in time')))
      const fail = (why: string): void => {
        deadline.cancel()
        reject(new OidcError(`oidc: ${url}: ${why}`))
      }
      // A connection of its own: one that is kept may be closed by the issuer in the moment in which it is used again.
      const request = get(url, { agent: false, ...(ca === undefined ? {} : { ca }) }, (response) => {
        readJson(response).then(
          (document) => {
            deadline.cancel()
            resolve(document)
          },
          (error: unknown) => fail(error instanceof Error ? error.message : String(error)),
        )
      })
      request.on('error', (error) => fail(error.message))
    })
}

async function readJson(response: IncomingMessage): Promise<JsonObject> {
  if (response.statusCode !== 200) throw new OidcError(`status ${response.statusCode}`)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > MAX_DOCUMENT_BYTES) throw new OidcError('the document is too long')
    chunks.push(chunk)
  }
  const value = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json
  if (!isObject(value)) throw new OidcError('the document is no object')
  return value
}
