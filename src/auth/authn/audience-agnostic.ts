/** Thread: any. Tokens that name no audience count for the server's own. */
import type { TokenAuthenticator, TokenResult } from './token-authenticator.js'

export class AudienceAgnostic implements TokenAuthenticator {
  readonly #tokens: TokenAuthenticator
  readonly #apiAudiences: readonly string[]

  constructor(tokens: TokenAuthenticator, apiAudiences: readonly string[]) {
    this.#tokens = tokens
    this.#apiAudiences = apiAudiences
  }

  authenticateToken(token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult> {
    const granted =
      audiences.length === 0 ? this.#apiAudiences : this.#apiAudiences.filter((one) => audiences.includes(one))
    if (granted.length === 0) return undefined
    const found = this.#tokens.authenticateToken(token, [])
    const named = (one: TokenResult): TokenResult => (one === undefined ? undefined : { ...one, audiences: granted })
    return found instanceof Promise ? found.then(named) : named(found)
  }
}
