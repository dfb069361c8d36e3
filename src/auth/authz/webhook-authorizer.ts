/**
 * Thread: any. Asks a service outside, with a SubjectAccessReview. Answers are kept for a while, those that allow and those
 * that do not each for their own; a service that cannot be asked has no opinion.
 */
import { parseFieldSelector } from '../../api/fields.js'
import { parseLabelSelector } from '../../api/label-parser.js'
import { type LabelOperator, SelectorError } from '../../api/labels.js'
import type { JsonObject } from '../../api/object.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import type { Attributes, Authorizer, RuleResolver, RuleSet, Verdict } from '../interface.js'
import { type WebhookClient, WebhookError } from '../webhook-client.js'

/** The most answers that are kept; the one that was used longest ago goes first. */
const MAX_KEPT = 8192
/** A longer question is asked each time: keeping it would let anybody fill memory. */
const MAX_KEY_LENGTH = 10_000

export interface WebhookAuthorizerOptions {
  readonly client: Pick<WebhookClient, 'review'>
  readonly version: 'v1' | 'v1beta1'
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  readonly clock: Clock
}

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

  async #ask(spec: JsonObject, key: string): Promise<Verdict> {
    const { client, version, clock, authorizedTtlMs, unauthorizedTtlMs } = this.#options
    try {
      const apiVersion = `authorization.k8s.io/${version}`
      const { status } = await client.review({ apiVersion, kind: 'SubjectAccessReview', metadata: {}, spec })
      const { allowed, denied, reason } = (status ?? {}) as { allowed?: unknown; denied?: unknown; reason?: unknown }
      const verdict = verdictOf(allowed === true, denied === true, typeof reason === 'string' ? reason : '')
      const ttlMs = allowed === true ? authorizedTtlMs : unauthorizedTtlMs
      if (key.length <= MAX_KEY_LENGTH && ttlMs > 0) this.#keep(key, { verdict, untilMs: clock.monotonicMs() + ttlMs })
      return verdict
    } catch (error) {
      if (error instanceof WebhookError) return { decision: 'no-opinion', reason: '', error: error.message }
      throw error
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

function verdictOf(allowed: boolean, denied: boolean, reason: string): Verdict {
  if (allowed && denied)
    return { decision: 'deny', reason, error: 'webhook subject access review returned both allow and deny response' }
  return { decision: denied ? 'deny' : allowed ? 'allow' : 'no-opinion', reason }
}

/** In v1beta1 the groups are called `group`. */
function reviewSpec(attributes: Attributes, version: 'v1' | 'v1beta1'): JsonObject {
  const { user, verb, path } = attributes
  const what: JsonObject = attributes.isResourceRequest
    ? { resourceAttributes: resourceAttributes(attributes) }
    : { nonResourceAttributes: { path, verb } }
  return {
    ...what,
    user: user.name,
    [version === 'v1' ? 'groups' : 'group']: [...user.groups],
    ...(Object.keys(user.extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(user.extra).map(([name, values]) => [name, [...values]])) }),
    ...(user.uid === '' ? {} : { uid: user.uid }),
  }
}

function resourceAttributes(attributes: Attributes): JsonObject {
  const given: Record<string, string> = {
    namespace: attributes.namespace,
    verb: attributes.verb,
    group: attributes.apiGroup,
    version: attributes.apiVersion,
    resource: attributes.resource,
    subresource: attributes.subresource,
    name: attributes.name,
  }
  const fields = fieldRequirements(attributes.fieldSelector ?? '')
  const labels = labelRequirements(attributes.labelSelector ?? '')
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
    ...(fields.length === 0 ? {} : { fieldSelector: { requirements: fields } }),
    ...(labels.length === 0 ? {} : { labelSelector: { requirements: labels } }),
  }
}

const LABEL_OPERATORS: Readonly<Partial<Record<LabelOperator, string>>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

/** A selector that cannot be read narrows nothing: the question is then broader than what is done, never narrower. */
function readable<T>(read: () => T[]): T[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof SelectorError) return []
    throw error
  }
}

const fieldRequirements = (text: string): JsonObject[] =>
  readable(() =>
    parseFieldSelector(text).requirements.map(({ field, operator, value }) => ({
      key: field,
      operator: operator === '=' ? 'In' : 'NotIn',
      values: [value],
    })),
  )

const labelRequirements = (text: string): JsonObject[] =>
  readable(() =>
    parseLabelSelector(text).requirements.flatMap(({ key, operator, values }) => {
      const name = LABEL_OPERATORS[operator]
      if (name === undefined) return []
      return [{ key, operator: name, ...(values.size === 0 ? {} : { values: values.list() }) }]
    }),
  )
