/**
 * Thread: any. Asks a service outside, with a SubjectAccessReview, whatever its match conditions do not leave out. Answers are
 * kept for a while, those that allow and those that do not each for their own; what a service that cannot be asked means is
 * its failure policy.
 */
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import type { Attributes, Authorizer, RuleResolver, RuleSet, Verdict } from '../interface.js'
import { type WebhookClient, WebhookError } from '../webhook-client.js'
import { reviewSpec } from './access-review-spec.js'
import type { MatchConditions } from './match-conditions.js'
import type { WebhookMetrics } from './webhook-metrics.js'

/** The most answers that are kept; the one that was used longest ago goes first. */
const MAX_KEPT = 8192
/** A longer question is asked each time: keeping it would let anybody fill memory. */
const MAX_KEY_LENGTH = 10_000

export interface WebhookAuthorizerOptions {
  readonly client: Pick<WebhookClient, 'review'>
  readonly version: 'v1' | 'v1beta1'
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  /** What it means when the service cannot be asked, or its conditions not be decided. */
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  /** What it is asked of; undefined: everything. */
  readonly conditions: MatchConditions | undefined
  readonly metrics: WebhookMetrics
  readonly clock: Clock
}

const PASS: Verdict = { decision: 'no-opinion', reason: '' }

interface Kept {
  readonly verdict: Verdict
  readonly untilMs: number
}

export class WebhookAuthorizer implements Authorizer, RuleResolver {
  readonly #options: WebhookAuthorizerOptions
  readonly #kept = new Map<string, Kept>()

  constructor(options: WebhookAuthorizerOptions) {
    this.#options = options
  }

  authorize(attributes: Attributes): Verdict | Promise<Verdict> {
    const left = this.#leftOut(attributes)
    if (left !== undefined) return left
    const spec = reviewSpec(attributes, this.#options.version)
    const key = JSON.stringify(spec)
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      this.#kept.delete(key)
      if (kept.untilMs > this.#options.clock.monotonicMs()) {
        this.#kept.set(key, kept)
        return kept.verdict
      }
    }
    return this.#ask(spec, key)
  }

  rulesFor(_user: UserInfo): RuleSet {
    const error = 'webhook authorizer does not support user rule resolution'
    return { resourceRules: [], nonResourceRules: [], incomplete: true, error }
  }

  /** The verdict on a request that its conditions leave out, or cannot decide. */
  #leftOut(attributes: Attributes): Verdict | undefined {
    const { conditions, metrics } = this.#options
    const decided = conditions?.decide(attributes)
    if (decided === undefined || decided === 'matches') return undefined
    if (decided === 'excluded') {
      metrics.excluded()
      return PASS
    }
    metrics.conditionFailed()
    return this.#failed(decided.error)
  }

  #failed(error: string): Verdict {
    return { decision: this.#options.failurePolicy === 'Deny' ? 'deny' : 'no-opinion', reason: '', error }
  }

  async #ask(spec: JsonObject, key: string): Promise<Verdict> {
    const { client, version, clock, authorizedTtlMs, unauthorizedTtlMs, failurePolicy, metrics } = this.#options
    const begunMs = clock.monotonicMs()
    try {
      const apiVersion = `authorization.k8s.io/${version}`
      const { status } = await client.review({ apiVersion, kind: 'SubjectAccessReview', metadata: {}, spec })
      const { allowed, denied, reason } = decisionIn(status)
      metrics.asked('success', clock.monotonicMs() - begunMs)
      const verdict = verdictOf(allowed, denied, reason)
      const ttlMs = allowed ? authorizedTtlMs : unauthorizedTtlMs
      if (key.length <= MAX_KEY_LENGTH && ttlMs > 0) this.#keep(key, { verdict, untilMs: clock.monotonicMs() + ttlMs })
      return verdict
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error
      const result = error.timedOut ? 'timeout' : 'error'
      metrics.asked(result, clock.monotonicMs() - begunMs)
      if (failurePolicy === 'NoOpinion') metrics.failedOpen(result)
      return this.#failed(error.message)
    }
  }

  #keep(key: string, kept: Kept): void {
    if (this.#kept.size >= MAX_KEPT) {
      const oldest = this.#kept.keys().next()
      if (oldest.done !== true) this.#kept.delete(oldest.value)
    }
    this.#kept.set(key, kept)
  }
}

/** The fields of a review's status. Throws a WebhookError where one has another type: what was meant cannot be known then. */
function decisionIn(status: Json | undefined): { allowed: boolean; denied: boolean; reason: string } {
  const given = status ?? {}
  if (!isJsonObject(given)) throw new WebhookError('the status of the webhook’s answer is no object', false)
  const flag = (name: string): boolean => {
    const value = given[name] ?? false
    if (typeof value !== 'boolean')
      throw new WebhookError(`status.${name} of the webhook’s answer is no boolean`, false)
    return value
  }
  const reason = given['reason'] ?? ''
  return { allowed: flag('allowed'), denied: flag('denied'), reason: typeof reason === 'string' ? reason : '' }
}

function verdictOf(allowed: boolean, denied: boolean, reason: string): Verdict {
  if (allowed && denied)
    return { decision: 'deny', reason, error: 'webhook subject access review returned both allow and deny response' }
  return { decision: denied ? 'deny' : allowed ? 'allow' : 'no-opinion', reason }
}
