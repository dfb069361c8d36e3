/**
 * Thread: any. JSON Web Tokens in compact form over node:crypto, synchronously: a signature is checked in the turn of the
 * request that shows it.
 *
 * The algorithm is a property of the key, never of the token alone: a token whose header names one that its key does not
 * have (`none`, HS256 over a public key) is refused before anything is computed.
 */

import { constants, createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { parseJson } from '../../api/json/parse.js'
import { JsonSyntaxError } from '../../api/json/syntax-error.js'
import type { JsonObject } from '../../api/object.js'
import { lookupTable } from '../../lib/lookup-table.js'

export class JwtError extends Error {
  override readonly name = 'JwtError'
}

/** The longest token: longer than any issuer makes one, and short enough that parsing it costs nothing. */
const MAX_TOKEN_CHARACTERS = 64 * 1024
const BASE64URL = /^[A-Za-z0-9_-]+$/

export interface VerificationKey {
  /** The name of the key; '' when its source names none. */
  readonly id: string
  readonly key: KeyObject
  readonly algorithms: readonly string[]
}

export interface SigningKey {
  readonly id: string
  readonly key: KeyObject
  readonly algorithm: string
}

/** A token taken apart. Nothing in it is to be trusted before verifySignature() has been passed. */
export interface ParsedJwt {
  readonly algorithm: string
  readonly keyId: string
  readonly claims: JsonObject
  /** The part of the token that is signed. */
  readonly input: string
  readonly signature: Buffer
}

/** Takes a token apart; undefined when it is no JWT. */
export function parseJwt(token: string): ParsedJwt | undefined {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  const [head = '', payload = '', signature = ''] = parts
  if (!BASE64URL.test(head) || !BASE64URL.test(payload) || !(signature === '' || BASE64URL.test(signature)))
    return undefined
  const header = jsonObject(head)
  const claims = jsonObject(payload)
  if (header === undefined || claims === undefined) return undefined
  const { alg, kid } = header
  // What a token declares critical must be understood, and here nothing is.
  if (typeof alg !== 'string' || (kid !== undefined && typeof kid !== 'string') || header['crit'] !== undefined)
    return undefined
  return {
    algorithm: alg,
    keyId: kid ?? '',
    claims,
    input: `${head}.${payload}`,
    signature: Buffer.from(signature, 'base64url'),
  }
}

/** With the limits of request bodies: what nests deeper than a thousand levels is refused before anybody walks over it. */
function jsonObject(part: string): JsonObject | undefined {
  try {
    const { value } = parseJson(Buffer.from(part, 'base64url'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/** Whether one of the keys made the signature. A token that names a key is checked with keys of that name only. */
export function verifySignature(jwt: ParsedJwt, keys: readonly VerificationKey[]): boolean {
  const scheme = SCHEMES[jwt.algorithm]
  if (scheme === undefined || jwt.signature.byteLength === 0) return false
  const input = Buffer.from(jwt.input)
  for (const { id, key, algorithms } of keys) {
    if (jwt.keyId !== '' && id !== '' && id !== jwt.keyId) continue
    if (!algorithms.includes(jwt.algorithm)) continue
    if (verify(scheme.hash, input, { key, ...scheme.options }, jwt.signature)) return true
  }
  return false
}

export function signJwt(claims: JsonObject, { id, key, algorithm }: SigningKey): string {
  const scheme = SCHEMES[algorithm]
  if (scheme === undefined) throw new JwtError(`nothing is known of the algorithm ${algorithm}`)
  const encode = (value: JsonObject): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`
  return `${input}.${sign(scheme.hash, Buffer.from(input), { key, ...scheme.options }).toString('base64url')}`
}

interface Scheme {
  readonly hash: string
  readonly options: { readonly padding?: number; readonly saltLength?: number; readonly dsaEncoding?: 'ieee-p1363' }
}

const PKCS1 = { padding: constants.RSA_PKCS1_PADDING }
const pss = (saltLength: number): Scheme['options'] => ({ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength })
const ECDSA = { dsaEncoding: 'ieee-p1363' } as const

const SCHEMES: Readonly<Record<string, Scheme>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, Scheme>, {
    RS256: { hash: 'sha256', options: PKCS1 },
    RS384: { hash: 'sha384', options: PKCS1 },
    RS512: { hash: 'sha512', options: PKCS1 },
    PS256: { hash: 'sha256', options: pss(32) },
    PS384: { hash: 'sha384', options: pss(48) },
    PS512: { hash: 'sha512', options: pss(64) },
    ES256: { hash: 'sha256', options: ECDSA },
    ES384: { hash: 'sha384', options: ECDSA },
    ES512: { hash: 'sha512', options: ECDSA },
  }),
)

/** What tokens may be signed with: whoever can verify them cannot make them. */
export const ASYMMETRIC_ALGORITHMS: readonly string[] = Object.keys(SCHEMES)

const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
const EC_ALGORITHMS: Readonly<Record<string, string>> = lookupTable({
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
})

/**
 * The algorithms that a key can verify; it signs with the first. Throws JwtError for a key that is neither RSA nor EC.
 */
export function algorithmsOf(key: KeyObject): readonly string[] {
  if (key.asymmetricKeyType === 'rsa') return RSA_ALGORITHMS
  const curve = EC_ALGORITHMS[key.asymmetricKeyDetails?.namedCurve ?? '']
  if (key.asymmetricKeyType === 'ec' && curve !== undefined) return [curve]
  throw new JwtError('the key is neither RSA nor EC on P-256, P-384 or P-521')
}

/** The name that Kubernetes gives a key, which tells nothing of the key itself. */
export function keyIdOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}

/** A key under the name that Kubernetes' own signers give it. */
export function verificationKey(key: KeyObject): VerificationKey {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  return { id: keyIdOf(publicKey), key: publicKey, algorithms: algorithmsOf(publicKey) }
}

/** The public key as JSON Web Key Sets show it. */
export function jwkOf({ id, key, algorithms }: VerificationKey): JsonObject {
  const { kty, ...rest } = key.export({ format: 'jwk' }) as Record<string, string>
  return { use: 'sig', kty: kty ?? '', kid: id, alg: algorithms[0] ?? '', ...rest }
}
