/** Thread: any. Users by tokens that a webhook knows: it is asked with a TokenReview, and its answers are remembered. */
import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../api/object.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import { InvalidCredentials } from '../interface.js'
import { WebhookError } from '../webhook-client.js'
import { ExpiringMap } from './expiring-map.js'
import type { TokenAuthenticator, TokenResult } from './token-authenticator.js'

export interface WebhookTokensOptions {
  readonly client: { review(object: JsonObject): Promise<JsonObject> }
  /** The version of TokenReview: v1 or v1beta1. */
  readonly version: string
  readonly apiAudiences: readonly string[]
  readonly ttlMs: number
  readonly clock: Clock
}

const LIMIT = 4096

type Answer = { readonly found: NonNullable<TokenResult> } | { readonly refused: string }

export class WebhookTokens implements TokenAuthenticator {
  readonly #options: WebhookTokensOptions
  readonly #answers: ExpiringMap<Answer>
  /** Questions that are under way, so that requests that come together with one token ask once. */
  readonly #asking = new Map<string, Promise<Answer>>()

  constructor(options: WebhookTokensOptions) {
    this.#options = options
    this.#answers = new ExpiringMap({ clock: options.clock, ttlMs: options.ttlMs, limit: LIMIT })
  }

  authenticateToken(token: string, audiences: readonly string[]): TokenResult | Promise<TokenResult> {
    const wanted = audiences.length === 0 ? this.#options.apiAudiences : audiences
    // Refusals are remembered too, and anybody can send long tokens: only a digest of them is kept.
    const key = createHash('sha256')
      .update(`${token} ${JSON.stringify(wanted)}`)
      .digest('base64')
    const known = this.#answers.get(key)
    if (known !== undefined) return resultOf(known)
    let asking = this.#asking.get(key)
    if (asking === undefined) {
      asking = this.#ask(token, wanted).finally(() => this.#asking.delete(key))
      this.#asking.set(key, asking)
    }
    return asking.then((answer) => {
      this.#answers.set(key, answer)
      return resultOf(answer)
    })
  }

  async #ask(token: string, audiences: readonly string[]): Promise<Answer> {
    const { client, version, apiAudiences } = this.#options
    let status: JsonObject
    try {
      const review = await client.review({
        apiVersion: `authentication.k8s.io/${version}`,
        kind: 'TokenReview',
        metadata: { creationTimestamp: null },
        spec: { token, ...(audiences.length === 0 ? {} : { audiences: [...audiences] }) },
        status: { user: {} },
      })
      status = isObject(review['status']) ? review['status'] : {}
    } catch (error) {
      if (error instanceof WebhookError) throw new InvalidCredentials(error.message)
      throw error
    }
    if (status['authenticated'] !== true) return { refused: typeof status['error'] === 'string' ? status['error'] : '' }
    const named = texts(status['audiences'])
    // A webhook that names no audience speaks for the server's own.
    const granted = (named.length === 0 ? apiAudiences : named).filter((one) => audiences.includes(one))
    if (audiences.length > 0 && granted.length === 0) return { refused: '' }
    return { found: { user: userOf(status['user']), audiences: granted } }
  }
}

function resultOf(answer: Answer): TokenResult {
  if ('found' in answer) return answer.found
  if (answer.refused !== '') throw new InvalidCredentials(answer.refused)
  return undefined
}

function userOf(value: Json | undefined): UserInfo {
  const user = isObject(value) ? value : {}
  const extra: Record<string, string[]> = {}
  for (const [key, values] of Object.entries(isObject(user['extra']) ? user['extra'] : {})) extra[key] = texts(values)
  const text = (name: string): string => (typeof user[name] === 'string' ? user[name] : '')
  return { name: text('username'), uid: text('uid'), groups: texts(user['groups']), extra }
}

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
