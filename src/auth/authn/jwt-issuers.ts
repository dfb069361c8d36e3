/**
 * Thread: any. All issuers whose tokens are believed, by their names: a token is taken apart once, however many there are.
 * They can be replaced while requests are judged; an issuer that is reached as before keeps its keys.
 */
import type { Clock } from '../../lib/clock.js'
import type { JwtAuthenticatorConfig, JwtIssuerConfig } from '../../protocol/server-credentials.js'
import { parseJwt } from './jwt.js'
import { OidcTokens } from './oidc.js'
import { type FetchJson, OidcKeys } from './oidc-keys.js'
import type { TokenAuthenticator, TokenResult } from './token-authenticator.js'

export interface JwtIssuersOptions {
  /** Reaches an issuer. */
  readonly fetchJson: (issuer: JwtIssuerConfig) => FetchJson
  readonly clock: Clock
}

export class JwtIssuers implements TokenAuthenticator {
  readonly #options: JwtIssuersOptions
  #issuers: ReadonlyMap<string, OidcTokens> = new Map()
  /** By how an issuer is reached. */
  #keys: ReadonlyMap<string, OidcKeys> = new Map()

  constructor(configs: readonly JwtAuthenticatorConfig[], options: JwtIssuersOptions) {
    this.#options = options
    this.replace(configs)
  }

  replace(configs: readonly JwtAuthenticatorConfig[]): void {
    const { clock, fetchJson } = this.#options
    const issuers = new Map<string, OidcTokens>()
    const keys = new Map<string, OidcKeys>()
    for (const config of configs) {
      const { issuer } = config
      const { url, discoveryUrl, ca } = issuer
      const reached = JSON.stringify([url, discoveryUrl, ca])
      const own =
        this.#keys.get(reached) ?? new OidcKeys({ issuer: url, discoveryUrl, fetchJson: fetchJson(issuer), clock })
      keys.set(reached, own)
      issuers.set(url, new OidcTokens(config, own, clock))
    }
    this.#issuers = issuers
    this.#keys = keys
  }

  authenticateToken(token: string): TokenResult | Promise<TokenResult> {
    if (this.#issuers.size === 0) return undefined
    const jwt = parseJwt(token)
    const name = jwt?.claims['iss']
    if (jwt === undefined || typeof name !== 'string') return undefined
    return this.#issuers.get(name)?.authenticate(jwt)
  }
}
