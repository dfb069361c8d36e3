/** Thread: any. The keys of service-account tokens, and the making of tokens (TokenRequest). */

import { createPrivateKey, createPublicKey, type KeyObject, randomUUID, X509Certificate } from 'node:crypto'
import type { JsonObject } from '../../api/object.js'
import { pemBlocks } from '../../api/pem.js'
import { formatTime } from '../../api/time.js'
import type { ServiceAccountTokenConfig } from '../../protocol/server-credentials.js'
import {
  algorithmsOf,
  JwtError,
  keyIdOf,
  type SigningKey,
  signJwt,
  type VerificationKey,
  verificationKey,
} from './jwt.js'
import { type ObjectRef, serviceAccountUsername } from './service-account.js'

export interface TokenToIssue {
  readonly serviceAccount: { readonly namespace: string; readonly name: string; readonly uid: string }
  /** The audiences of the token; empty for those of the API. */
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  /**
   * The object that the token is bound to. The caller has checked that it exists, and that a pod belongs to the
   * account.
   */
  readonly boundObject?: BoundObject | undefined
}

export type BoundObject =
  | { readonly kind: 'Pod'; readonly name: string; readonly uid: string; readonly node?: ObjectRef | undefined }
  | { readonly kind: 'Secret' | 'Node'; readonly name: string; readonly uid: string }

export interface IssuedToken {
  readonly token: string
  /** When the token expires, in RFC 3339, UTC. */
  readonly expirationTimestamp: string
  /** The lifetime after limits, which the answer to a TokenRequest shows in its spec. */
  readonly expirationSeconds: number
  readonly audiences: readonly string[]
  /** The id of the token in the audit log. */
  readonly credentialId: string
}

/**
 * The lifetime that the injected volume of a pod asks for. Only there it stands for a longer one: anybody could ask for
 * it elsewhere.
 */
const INJECTED_EXPIRATION_SECONDS = 3607
const EXTENDED_EXPIRATION_SECONDS = 365 * 24 * 3600

export class ServiceAccountTokenIssuer {
  readonly #config: ServiceAccountTokenConfig
  readonly #key: SigningKey
  readonly #newId: () => string

  constructor(config: ServiceAccountTokenConfig, newId: () => string = randomUUID) {
    this.#config = config
    this.#key = signingKey(config.signingKey)
    this.#newId = newId
  }

  issueToken(wanted: TokenToIssue, nowMs: number): IssuedToken {
    const { issuers, apiAudiences, maxExpirationSeconds, extendExpiration } = this.#config
    const audiences = wanted.audiences.length === 0 ? apiAudiences : wanted.audiences
    const limited = (seconds: number): number =>
      maxExpirationSeconds > 0 ? Math.min(seconds, maxExpirationSeconds) : seconds
    const expirationSeconds = limited(wanted.expirationSeconds)
    const extended =
      extendExpiration &&
      wanted.boundObject?.kind === 'Pod' &&
      expirationSeconds === INJECTED_EXPIRATION_SECONDS &&
      audiences.every((audience) => apiAudiences.includes(audience))
    const lifeSeconds = extended ? limited(EXTENDED_EXPIRATION_SECONDS) : expirationSeconds
    const issuedAt = Math.floor(nowMs / 1000)
    const id = this.#newId()
    const { namespace, name, uid } = wanted.serviceAccount
    const claims: JsonObject = {
      aud: [...audiences],
      exp: issuedAt + lifeSeconds,
      iat: issuedAt,
      iss: issuers[0] ?? '',
      jti: id,
      'kubernetes.io': {
        namespace,
        ...boundClaims(wanted.boundObject),
        serviceaccount: { name, uid },
        ...(extended ? { warnafter: issuedAt + expirationSeconds } : {}),
      },
      nbf: issuedAt,
      sub: serviceAccountUsername(namespace, name),
    }
    return {
      token: signJwt(claims, this.#key),
      expirationTimestamp: formatTime((issuedAt + expirationSeconds) * 1000),
      expirationSeconds,
      audiences,
      credentialId: `JTI=${id}`,
    }
  }
}

function boundClaims(bound: BoundObject | undefined): JsonObject {
  if (bound === undefined) return {}
  const ref = { name: bound.name, uid: bound.uid }
  if (bound.kind !== 'Pod') return { [bound.kind.toLowerCase()]: ref }
  const { node } = bound
  if (node === undefined) return { pod: ref }
  return { node: { name: node.name, ...(node.uid === '' ? {} : { uid: node.uid }) }, pod: ref }
}

/** Throws JwtError when the text is no key that can sign. */
export function signingKey(pem: string): SigningKey {
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch (error) {
    throw new JwtError(`not a private key: ${error instanceof Error ? error.message : String(error)}`)
  }
  return { id: keyIdOf(createPublicKey(key)), key, algorithm: algorithmsOf(key)[0]! }
}

/** All keys in PEM texts, each once. Throws JwtError when a text has none. */
export function verificationKeys(pems: readonly string[]): VerificationKey[] {
  const keys = new Map<string, VerificationKey>()
  for (const pem of pems) {
    let found = 0
    for (const { text: block, label } of pemBlocks(pem)) {
      // openssl writes the parameters of a curve in front of its key.
      if (label === 'EC PARAMETERS') continue
      const key = verificationKey(publicKeyOf(block, label))
      keys.set(key.id, key)
      found++
    }
    if (found === 0) throw new JwtError('there is no key in the file')
  }
  return [...keys.values()]
}

function publicKeyOf(block: string, label: string): KeyObject {
  try {
    return label === 'CERTIFICATE' ? new X509Certificate(block).publicKey : createPublicKey(block)
  } catch (error) {
    throw new JwtError(`not a key: ${error instanceof Error ? error.message : String(error)}`)
  }
}
