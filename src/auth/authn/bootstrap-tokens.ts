/** Thread: any. Users by bootstrap tokens: `id.secret`, kept in secrets bootstrap-token-<id> of kube-system. */
import { timingSafeEqual } from 'node:crypto'
import type { Json, JsonObject } from '../../api/object.js'
import { timeMs } from '../../api/time.js'
import type { Clock } from '../../lib/clock.js'
import type { FoundObject, ObjectSource } from './object-source.js'
import type { TokenAuthenticator, TokenResult } from './token-authenticator.js'

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const TYPE = 'bootstrap.kubernetes.io/token'
const GROUP = 'system:bootstrappers'
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

export class BootstrapTokens implements TokenAuthenticator {
  readonly #objects: ObjectSource
  readonly #clock: Clock

  constructor(objects: ObjectSource, clock: Clock) {
    this.#objects = objects
    this.#clock = clock
  }

  authenticateToken(token: string): TokenResult | Promise<TokenResult> {
    const match = TOKEN.exec(token)
    if (match === null) return undefined
    const [, id = '', secret = ''] = match
    const name = `bootstrap-token-${id}`
    const judge = (found: FoundObject | undefined): TokenResult => {
      const groups = found === undefined ? undefined : this.#groups(found, id, secret)
      if (groups === undefined) return undefined
      return {
        user: { name: `system:bootstrap:${id}`, uid: '', groups, extra: {} },
        stillGood: () => judge(this.#objects.find('secrets', 'kube-system', name)) !== undefined,
      }
    }
    const found = this.#objects.find('secrets', 'kube-system', name)
    return found === undefined ? this.#objects.ask('secrets', 'kube-system', name).then(judge) : judge(found)
  }

  /** The groups of a token; undefined when the secret does not vouch for it. */
  #groups(found: FoundObject, id: string, secret: string): string[] | undefined {
    if (found.deletedMs !== undefined) return undefined
    const object = found.read()
    if (object['type'] !== TYPE) return undefined
    const data = isObject(object['data']) ? object['data'] : {}
    const value = (key: string): string => {
      const encoded = data[key]
      return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : ''
    }
    const kept = Buffer.from(value('token-secret'))
    const shown = Buffer.from(secret)
    if (kept.byteLength !== shown.byteLength || !timingSafeEqual(kept, shown)) return undefined
    if (value('token-id') !== id || value('usage-bootstrap-authentication') !== 'true') return undefined
    const expiration = value('expiration')
    // An expiration that is no time counts as expired.
    if (expiration !== '' && !(timeMs(expiration) > this.#clock.now())) return undefined
    const extra = value('auth-extra-groups')
    const groups = extra === '' ? [] : extra.split(',')
    if (!groups.every((group) => EXTRA_GROUP.test(group))) return undefined
    return [...new Set([GROUP, ...groups])]
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
