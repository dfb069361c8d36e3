/** Thread: any. Users by the ID tokens of one OpenID Connect issuer. */
import type { JsonObject } from '../../api/object.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import type { JwtAuthenticatorConfig } from '../../protocol/server-credentials.js'
import { InvalidCredentials } from '../interface.js'
import { ExpiringMap } from './expiring-map.js'
import { type ParsedJwt, type VerificationKey, verifySignature } from './jwt.js'
import { JwtUser } from './jwt-user.js'
import { OidcError, type OidcKeys } from './oidc-keys.js'
import type { TokenResult } from './token-authenticator.js'

/** How long it is remembered that the rules refuse a token: evaluating them can cost more than everything else. */
const REFUSED_TTL_MS = 10_000
const MAX_REFUSED = 1024

/** The issuer's clock may be ahead by so much. */
const NOT_BEFORE_LEEWAY_MS = 5 * 60_000

export class OidcTokens {
  readonly #config: JwtAuthenticatorConfig
  readonly #keys: OidcKeys
  readonly #clock: Clock
  readonly #user: JwtUser
  /** Why tokens were refused, by their signature: only what the issuer has signed can be in it. */
  readonly #refused: ExpiringMap<InvalidCredentials>

  constructor(config: JwtAuthenticatorConfig, keys: OidcKeys, clock: Clock) {
    this.#config = config
    this.#keys = keys
    this.#clock = clock
    this.#user = new JwtUser(config)
    this.#refused = new ExpiringMap({ clock, ttlMs: REFUSED_TTL_MS, limit: MAX_REFUSED })
  }

  /** Judges a token that names this issuer. Throws InvalidCredentials. */
  authenticate(jwt: ParsedJwt): TokenResult | Promise<TokenResult> {
    if (!this.#config.signingAlgs.includes(jwt.algorithm))
      throw new InvalidCredentials(`oidc: tokens are not signed with ${JSON.stringify(jwt.algorithm)}`)
    const known = this.#keys.known(jwt.keyId)
    if (known !== undefined) return this.#verify(jwt, known)
    return this.#keys.load().then(
      (loaded) => this.#verify(jwt, loaded),
      (error: unknown) => {
        if (error instanceof OidcError) throw new InvalidCredentials(error.message)
        throw error
      },
    )
  }

  #verify(jwt: ParsedJwt, keys: readonly VerificationKey[]): TokenResult {
    if (!verifySignature(jwt, keys)) throw new InvalidCredentials('oidc: the signature is not the issuer’s')
    const { claims } = jwt
    if (!this.#inTime(claims)) throw new InvalidCredentials('oidc: the token has expired or is not valid yet')
    const { aud } = claims
    const named = Array.isArray(aud) ? aud : [aud]
    if (!this.#config.issuer.audiences.some((one) => named.includes(one)))
      throw new InvalidCredentials('oidc: the token is for another client')
    return { user: this.#userOf(jwt), stillGood: () => this.#inTime(claims) }
  }

  #userOf({ claims, signature }: ParsedJwt): UserInfo {
    const key = signature.toString('base64')
    const before = this.#refused.get(key)
    if (before !== undefined) throw before
    try {
      return this.#user.of(claims)
    } catch (error) {
      if (error instanceof InvalidCredentials) this.#refused.set(key, error)
      throw error
    }
  }

  #inTime({ exp, nbf }: JsonObject): boolean {
    const nowMs = this.#clock.now()
    if (typeof exp !== 'number' || nowMs > exp * 1000) return false
    return nbf === undefined || (typeof nbf === 'number' && nowMs + NOT_BEFORE_LEEWAY_MS >= nbf * 1000)
  }
}
