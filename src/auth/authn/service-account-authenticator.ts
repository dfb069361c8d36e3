/**
 * Thread: any. Users by service-account tokens: signed by one of our keys, for one of our audiences, in their time, and
 * everything that they are bound to is still there with the same uid.
 *
 * kube-apiserver remembers the whole answer for ten seconds. Here the signature is remembered, and the objects are looked
 * up in shared memory each time (two lookups of 4 µs): the token of a deleted pod ends with the pod.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Json, JsonObject } from '../../api/object.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import { InvalidCredentials } from '../interface.js'
import { type ParsedJwt, parseJwt, type VerificationKey, verifySignature } from './jwt.js'
import type { FoundObject, ObjectSource, SourceResource } from './object-source.js'
import {
  type ServiceAccountClaims,
  serviceAccountClaims,
  serviceAccountUser,
  splitServiceAccountUsername,
} from './service-account.js'
import type { TokenAuthenticator, TokenResult } from './token-authenticator.js'

/** The clocks of signer and verifier may differ by so much. */
const LEEWAY_MS = 60_000
/** The issuer of tokens that are kept in secrets. */
const SECRET_ISSUER = 'kubernetes/serviceaccount'
const SECRET_CLAIM = 'kubernetes.io/serviceaccount/'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'

export interface ServiceAccountAuthenticatorOptions {
  readonly issuers: readonly string[]
  readonly apiAudiences: readonly string[]
  readonly keys: readonly VerificationKey[]
  /** Whether tokens that are kept in secrets are held against their secret and account. */
  readonly lookup: boolean
  readonly objects: ObjectSource
  readonly clock: Clock
}

/** One object that must be there for a token to be good. */
interface Requirement {
  readonly resource: SourceResource
  readonly namespace: string
  readonly name: string
  /** Throws InvalidCredentials when the object does not vouch for the token. */
  check(found: FoundObject | undefined, nowMs: number): void
}

export class ServiceAccountAuthenticator implements TokenAuthenticator {
  readonly #options: ServiceAccountAuthenticatorOptions

  constructor(options: ServiceAccountAuthenticatorOptions) {
    this.#options = options
  }

  authenticateToken(token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult> {
    const jwt = parseJwt(token)
    const issuer = jwt?.claims['iss']
    if (jwt === undefined || typeof issuer !== 'string') return undefined
    const inSecret = issuer === SECRET_ISSUER
    if (!inSecret && !this.#options.issuers.includes(issuer)) return undefined
    if (!verifySignature(jwt, this.#options.keys)) throw new InvalidCredentials('invalid signature, or no key for it')
    const granted = this.#audiences(jwt.claims, audiences)
    return inSecret ? this.#ofSecret(jwt, token, granted) : this.#bound(jwt, granted)
  }

  #audiences({ aud }: JsonObject, requested: readonly string[]): readonly string[] {
    const { apiAudiences } = this.#options
    const named = (Array.isArray(aud) ? aud : aud === undefined ? [] : [aud]).filter((one) => typeof one === 'string')
    const own = named.length === 0 ? apiAudiences : named
    const wanted = requested.length === 0 ? apiAudiences : requested
    const common = own.filter((one) => wanted.includes(one))
    if (common.length === 0)
      throw new InvalidCredentials(
        `token audiences ${JSON.stringify(own)} is invalid for the target audiences ${JSON.stringify(wanted)}`,
      )
    return common
  }

  #bound(jwt: ParsedJwt, audiences: readonly string[]): TokenResult | Promise<TokenResult> {
    const claims = serviceAccountClaims(jwt.claims)
    if (claims === undefined) throw new InvalidCredentials('the token says nothing of its service account')
    checkTimes(jwt.claims, this.#options.clock.now())
    const id = jwt.claims['jti']
    const user = serviceAccountUser(claims, typeof id === 'string' ? id : '')
    return this.#when(requirementsOf(claims), user, audiences, (nowMs) => checkTimes(jwt.claims, nowMs))
  }

  #ofSecret(jwt: ParsedJwt, token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult> {
    const claim = (name: string): string => {
      const value = jwt.claims[`${SECRET_CLAIM}${name}`]
      if (typeof value !== 'string' || value === '') throw new InvalidCredentials(`${name} claim is missing`)
      return value
    }
    const namespace = claim('namespace')
    const secretName = claim('secret.name')
    const serviceAccount = { name: claim('service-account.name'), uid: claim('service-account.uid') }
    const subject = splitServiceAccountUsername(String(jwt.claims['sub'] ?? ''))
    if (subject?.namespace !== namespace || subject.name !== serviceAccount.name)
      throw new InvalidCredentials('sub claim is invalid')
    const claims = { namespace, serviceAccount, pod: undefined, secret: undefined, node: undefined }
    const user = serviceAccountUser(claims, '')
    if (!this.#options.lookup) return { user, audiences }
    const secret: Requirement = {
      resource: 'secrets',
      namespace,
      name: secretName,
      check: (found) => checkSecret(found, token),
    }
    return this.#when([secret, ...requirementsOf(claims)], user, audiences, () => undefined)
  }

  /** Answers at once when memory has all objects; else those that it lacks are asked for. */
  #when(
    requirements: readonly Requirement[],
    user: UserInfo,
    audiences: readonly string[],
    checkTime: (nowMs: number) => void,
  ): TokenResult | Promise<TokenResult> {
    const { objects, clock } = this.#options
    const verified = {
      user,
      audiences,
      stillGood: (): boolean => {
        try {
          checkTime(clock.now())
          for (const one of requirements) one.check(objects.find(one.resource, one.namespace, one.name), clock.now())
          return true
        } catch (error) {
          if (error instanceof InvalidCredentials) return false
          throw error
        }
      },
    }
    if (verified.stillGood()) return verified
    return this.#askFor(requirements).then(() => verified)
  }

  async #askFor(requirements: readonly Requirement[]): Promise<void> {
    const { objects, clock } = this.#options
    for (const one of requirements) one.check(await objects.ask(one.resource, one.namespace, one.name), clock.now())
  }
}

function requirementsOf({ namespace, serviceAccount, pod, secret, node }: ServiceAccountClaims): Requirement[] {
  const needs = (resource: SourceResource, within: string, ref: { name: string; uid: string }): Requirement => ({
    resource,
    namespace: within,
    name: ref.name,
    check: (found, nowMs) => {
      const what = `${resource} ${within === '' ? '' : `${within}/`}${ref.name}`
      if (found === undefined) throw new InvalidCredentials(`the token’s ${what} is gone`)
      if (found.uid !== ref.uid) throw new InvalidCredentials(`the token’s ${what} has another uid`)
      if (found.deletedMs !== undefined && found.deletedMs < nowMs - LEEWAY_MS)
        throw new InvalidCredentials(`the token’s ${what} has been deleted`)
    },
  })
  return [
    needs('serviceaccounts', namespace, serviceAccount),
    ...(secret === undefined ? [] : [needs('secrets', namespace, secret)]),
    ...(pod === undefined ? [] : [needs('pods', namespace, pod)]),
    // The token of a pod only tells its node, which need not exist.
    ...(node === undefined || pod !== undefined ? [] : [needs('nodes', '', node)]),
  ]
}

function checkTimes({ exp, nbf, iat }: JsonObject, nowMs: number): void {
  if (typeof exp !== 'number' || nowMs - LEEWAY_MS > exp * 1000)
    throw new InvalidCredentials('service account token has expired')
  if (nbf !== undefined && !(typeof nbf === 'number' && nowMs + LEEWAY_MS >= nbf * 1000))
    throw new InvalidCredentials('service account token is not valid yet')
  if (iat !== undefined && !(typeof iat === 'number' && nowMs + LEEWAY_MS >= iat * 1000))
    throw new InvalidCredentials('service account token is issued in the future')
}

function checkSecret(found: FoundObject | undefined, token: string): void {
  if (found === undefined || found.deletedMs !== undefined) throw new InvalidCredentials('Token has been invalidated')
  const { data, metadata } = found.read()
  const kept = isObject(data) && typeof data['token'] === 'string' ? Buffer.from(data['token'], 'base64') : Buffer.of()
  const shown = Buffer.from(token)
  if (kept.byteLength !== shown.byteLength || !timingSafeEqual(kept, shown))
    throw new InvalidCredentials('Token does not match server’s copy')
  const labels = isObject(metadata) ? metadata['labels'] : undefined
  if (isObject(labels) && labels[INVALID_SINCE] !== undefined)
    throw new InvalidCredentials('the token’s secret has been marked invalid')
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
