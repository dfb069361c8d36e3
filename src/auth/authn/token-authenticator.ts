/** Thread: any. What the ways to verify a token share: their contract, their order, and what is remembered of them. */
import type { Clock } from '../../lib/clock.js'
import { type Authenticated, InvalidCredentials } from '../interface.js'
import { ExpiringMap } from './expiring-map.js'

export interface VerifiedToken extends Authenticated {
  /**
   * Asked before a remembered token is used again; when false, the token is verified anew. Without it the token stays
   * good.
   */
  stillGood?(): boolean
}

export type TokenResult = VerifiedToken | undefined

/**
 * Gives undefined for a token that is not one of its own. Throws InvalidCredentials for one that is its own, and wrong.
 * Empty `audiences` mean the server's own.
 */
export interface TokenAuthenticator {
  authenticateToken(token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult>
}

/**
 * Asks one after another: the first that knows the token decides. The error of one does not keep the next from knowing
 * it.
 */
export class TokenUnion implements TokenAuthenticator {
  readonly #members: readonly TokenAuthenticator[]

  constructor(members: readonly TokenAuthenticator[]) {
    this.#members = members
  }

  authenticateToken(token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult> {
    return this.#from(0, token, audiences, [])
  }

  #from(
    start: number,
    token: string,
    audiences: readonly string[],
    errors: InvalidCredentials[],
  ): TokenResult | Promise<TokenResult> {
    for (let i = start; i < this.#members.length; i++) {
      try {
        const found = this.#members[i]!.authenticateToken(token, audiences)
        if (found instanceof Promise) {
          return found.then(
            (later) => later ?? this.#from(i + 1, token, audiences, errors),
            (error: unknown) => {
              errors.push(invalid(error))
              return this.#from(i + 1, token, audiences, errors)
            },
          )
        }
        if (found !== undefined) return found
      } catch (error) {
        errors.push(invalid(error))
      }
    }
    if (errors.length > 0) throw aggregate(errors)
    return undefined
  }
}

/** The error of a wrong credential; any other error is a defect, and thrown. */
export function invalid(error: unknown): InvalidCredentials {
  if (error instanceof InvalidCredentials) return error
  throw error
}

export function aggregate(errors: readonly InvalidCredentials[]): InvalidCredentials {
  const messages = [...new Set(errors.map((error) => error.message))]
  return new InvalidCredentials(messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`)
}

/** How long a good token is remembered, as in kube-apiserver; a token that is not good is verified again each time. */
export const TOKEN_TTL_MS = 10_000
const LIMIT = 4096
/** Longer than any token; what is longer is verified each time and not kept. */
const MAX_REMEMBERED_CHARACTERS = 16 * 1024

export class RememberedTokens implements TokenAuthenticator {
  readonly #tokens: TokenAuthenticator
  readonly #makeMap: () => ExpiringMap<VerifiedToken>
  #verified: ExpiringMap<VerifiedToken>

  constructor(tokens: TokenAuthenticator, clock: Clock, ttlMs: number = TOKEN_TTL_MS) {
    this.#tokens = tokens
    this.#makeMap = () => new ExpiringMap({ clock, ttlMs, limit: LIMIT })
    this.#verified = this.#makeMap()
  }

  /** Forgets every token, those included whose verification is under way: it ends by rules that are no longer in force. */
  forget(): void {
    this.#verified = this.#makeMap()
  }

  authenticateToken(token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult> {
    const key = audiences.length === 0 ? token : `${token} ${JSON.stringify(audiences)}`
    const verified = this.#verified
    const known = verified.get(key)
    if (known !== undefined) {
      if (known.stillGood === undefined || known.stillGood()) return known
      verified.delete(key)
    }
    const remember = (found: TokenResult): TokenResult => {
      if (found !== undefined && key.length <= MAX_REMEMBERED_CHARACTERS) verified.set(key, found)
      return found
    }
    const found = this.#tokens.authenticateToken(token, audiences)
    return found instanceof Promise ? found.then(remember) : remember(found)
  }
}
