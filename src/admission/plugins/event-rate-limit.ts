/**
 * Thread: pool. Limits how many events a second are written: by the server, a namespace, a user, or a source and
 * object.
 */

import type { Event as CoreEvent } from '../../api/generated/kinds/core.v1.js'
import type { Event } from '../../api/generated/kinds/events.v1.js'
import type { JsonObject } from '../../api/object.js'
import { newTooManyRequests } from '../../api/status.js'
import type { Clock } from '../../lib/clock.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'

type LimitType = 'Server' | 'Namespace' | 'User' | 'SourceAndObject'

interface Limit {
  readonly type: LimitType
  readonly qps: number
  readonly burst: number
  readonly cacheSize: number
}

const TYPES: ReadonlySet<string> = new Set<LimitType>(['Server', 'Namespace', 'User', 'SourceAndObject'])
const DEFAULT_CACHE_SIZE = 4096

/** What is wrong with a Configuration of eventratelimit.admission.k8s.io. */
export function eventRateLimitErrors(config: JsonObject): string[] {
  const limits = config['limits']
  if (!Array.isArray(limits) || limits.length === 0) return ['EventRateLimit: limits must not be empty']
  const errors: string[] = []
  for (const [i, entry] of limits.entries()) {
    const limit = (entry ?? {}) as JsonObject
    if (!TYPES.has(String(limit['type'])))
      errors.push(`EventRateLimit: limits[${i}].type must be one of ${[...TYPES].join(', ')}`)
    for (const field of ['qps', 'burst']) {
      const value = limit[field]
      if (typeof value !== 'number' || value <= 0) errors.push(`EventRateLimit: limits[${i}].${field} must be positive`)
    }
  }
  return errors
}

export class EventRateLimit implements AdmissionPlugin {
  readonly name = 'EventRateLimit'
  readonly #limiters: readonly Limiter[]

  /** `shares`: how many threads count apart from each other, each with its part of the rate. */
  constructor(config: JsonObject, clock: Clock, shares = 1) {
    const limits = (config['limits'] ?? []) as unknown as Partial<Limit>[]
    this.#limiters = limits.map(
      ({ type = 'Server', qps = 1, burst = 1, cacheSize }) =>
        new Limiter(
          { type, qps: qps / shares, burst: Math.max(1, burst / shares), cacheSize: cacheSize || DEFAULT_CACHE_SIZE },
          clock,
        ),
    )
  }

  handles({ operation, resource, subresource }: AdmissionAttributes): boolean {
    return (
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.resource === 'events' &&
      (resource.group === '' || resource.group === 'events.k8s.io') &&
      subresource === ''
    )
  }

  validate(attributes: AdmissionAttributes): void {
    if (attributes.dryRun) return
    // Every limit counts the event, whichever refuses it.
    const passed = this.#limiters.map((limiter) => limiter.take(attributes))
    if (passed.includes(false)) throw newTooManyRequests('limit reached on EventRateLimit admission', 1)
  }
}

/** Token buckets by key; the least recently used ones are forgotten. */
class Limiter {
  readonly #limit: Limit
  readonly #clock: Clock
  readonly #buckets = new Map<string, { tokens: number; at: number }>()

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  take(attributes: AdmissionAttributes): boolean {
    const { qps, burst, cacheSize } = this.#limit
    const key = this.#keyOf(attributes)
    const now = this.#clock.monotonicMs()
    const bucket = this.#buckets.get(key) ?? { tokens: burst, at: now }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * qps)
    bucket.at = now
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    if (this.#buckets.size > cacheSize) this.#buckets.delete(this.#buckets.keys().next().value!)
    if (bucket.tokens < 1) return false
    bucket.tokens--
    return true
  }

  #keyOf({ namespace, user, object }: AdmissionAttributes): string {
    switch (this.#limit.type) {
      case 'Server':
        return ''
      case 'Namespace':
        return namespace
      case 'User':
        return user.name
      case 'SourceAndObject':
        return sourceAndObject(object ?? {})
    }
  }
}

function sourceAndObject({ source, deprecatedSource, involvedObject, regarding }: CoreEvent & Event): string {
  const { component, host } = source ?? deprecatedSource ?? {}
  const { kind, namespace, name, uid, apiVersion } = involvedObject ?? regarding ?? {}
  return JSON.stringify([component, host, kind, namespace, name, uid, apiVersion])
}
