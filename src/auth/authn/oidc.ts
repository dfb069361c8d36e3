/** Thread: any. Users by ID tokens of an OpenID Connect issuer. */
import type { Json, JsonObject } from '../../api/object.js'
import type { Clock } from '../../lib/clock.js'
import type { OidcConfig } from '../../protocol/server-credentials.js'
import { InvalidCredentials } from '../interface.js'
import { type ParsedJwt, parseJwt, type VerificationKey, verifySignature } from './jwt.js'
import { OidcError, type OidcKeys } from './oidc-keys.js'
import type { TokenAuthenticator, TokenResult } from './token-authenticator.js'

/** The issuer's clock may be ahead by so much. */
const NOT_BEFORE_LEEWAY_MS = 5 * 60_000

export class OidcTokens implements TokenAuthenticator {
  readonly #config: OidcConfig
  readonly #keys: OidcKeys
  readonly #clock: Clock
  readonly #usernamePrefix: string

  constructor(config: OidcConfig, keys: OidcKeys, clock: Clock) {
    this.#config = config
    this.#keys = keys
    this.#clock = clock
    const { usernamePrefix, usernameClaim, issuer } = config
    if (usernamePrefix === '-') this.#usernamePrefix = ''
    else if (usernamePrefix === '' && usernameClaim !== 'email') this.#usernamePrefix = `${issuer}#`
    else this.#usernamePrefix = usernamePrefix
  }

  authenticateToken(token: string): TokenResult | Promise<TokenResult> {
    const jwt = parseJwt(token)
    if (jwt === undefined || jwt.claims['iss'] !== this.#config.issuer) return undefined
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
    this.#checkTimes(claims)
    const { aud } = claims
    if (!(Array.isArray(aud) ? aud : [aud]).includes(this.#config.clientId))
      throw new InvalidCredentials('oidc: the token is for another client')
    for (const [name, value] of Object.entries(this.#config.requiredClaims)) {
      if (claims[name] !== value) throw new InvalidCredentials(`oidc: the claim ${name} is not as required`)
    }
    const user = { name: this.#username(claims), uid: '', groups: this.#groups(claims), extra: {} }
    return { user, stillGood: () => this.#inTime(claims) }
  }

  #inTime({ exp, nbf }: JsonObject): boolean {
    const nowMs = this.#clock.now()
    if (typeof exp !== 'number' || nowMs > exp * 1000) return false
    return nbf === undefined || (typeof nbf === 'number' && nowMs + NOT_BEFORE_LEEWAY_MS >= nbf * 1000)
  }

  #checkTimes(claims: JsonObject): void {
    if (!this.#inTime(claims)) throw new InvalidCredentials('oidc: the token has expired or is not valid yet')
  }

  #username(claims: JsonObject): string {
    const { usernameClaim } = this.#config
    const value = claims[usernameClaim]
    if (typeof value !== 'string' || value === '')
      throw new InvalidCredentials(`oidc: the claim ${usernameClaim} is missing or no text`)
    // An address that nobody has verified may be anybody's.
    if (usernameClaim === 'email' && claims['email_verified'] !== undefined && claims['email_verified'] !== true)
      throw new InvalidCredentials('oidc: the email address is not verified')
    return `${this.#usernamePrefix}${value}`
  }

  #groups(claims: JsonObject): string[] {
    const { groupsClaim, groupsPrefix } = this.#config
    const value: Json | undefined = groupsClaim === '' ? undefined : claims[groupsClaim]
    if (value === undefined || value === null) return []
    const all = Array.isArray(value) ? value : [value]
    if (!all.every((one) => typeof one === 'string'))
      throw new InvalidCredentials(`oidc: the claim ${groupsClaim} is not text`)
    return all.map((group) => `${groupsPrefix}${group}`)
  }
}
