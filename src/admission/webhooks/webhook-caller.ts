/**
 * Thread: pool. Asks one webhook about one request, and counts how that ended. Mutating and validating plugins share it; which
 * webhooks are asked, and what follows from their answers, is theirs.
 */
import { randomUUID } from 'node:crypto'
import type { StructSchema } from '../../api/schema.js'
import { newBadRequest, newForbidden } from '../../api/status.js'
import type { Authorizer } from '../../auth/interface.js'
import type { Clock } from '../../lib/clock.js'
import type { AdmissionAttributes } from '../chain.js'
import { withAuthorizations } from '../expressions/expression-authorizer.js'
import type { AdmissionKinds, ServedKind } from '../matching/admission-kinds.js'
import type { Candidate } from '../matching/rule-index.js'
import { namespaceMatches, objectMatches } from '../matching/selector-match.js'
import type { AdmissionObjects } from '../objects.js'
import { ReviewError, readReview, reviewText, type Verdict, verdictOf } from './admission-review.js'
import type { FailureLog } from './failure-log.js'
import { VersionedRequest } from './versioned-request.js'
import type { ReviewVersion, Webhook } from './webhook.js'
import { CallingWebhookError, rejection, WebhookRejection } from './webhook-errors.js'
import type { WebhookMetrics } from './webhook-metrics.js'
import { TransportError, type WebhookTransport } from './webhook-transport.js'

export interface WebhookCallerOptions {
  readonly mutating: boolean
  readonly transport: WebhookTransport
  readonly objects: AdmissionObjects
  readonly kinds: AdmissionKinds
  readonly authorizer: Authorizer | undefined
  readonly metrics: WebhookMetrics
  readonly failures: FailureLog
  readonly clock: Clock
  readonly reviewSchema: (version: ReviewVersion) => StructSchema
}

export class WebhookCaller {
  readonly #options: WebhookCallerOptions

  constructor(options: WebhookCallerOptions) {
    this.#options = options
  }

  /** The request as the webhooks of one round see it. */
  versioned(attributes: AdmissionAttributes): VersionedRequest {
    const { kinds, authorizer } = this.#options
    return new VersionedRequest(attributes, kinds, authorizer)
  }

  /**
   * The version in which a candidate is to be asked; undefined when its selectors or conditions leave the request out. Throws a
   * StatusError when that cannot be decided.
   */
  async invoked({ entry, equivalent }: Candidate<Webhook>, request: VersionedRequest): Promise<ServedKind | undefined> {
    const { attributes } = request
    const { objects, metrics } = this.#options
    const { object } = request
    const inNamespace = namespaceMatches(entry.namespaceSelector, attributes, object, objects)
    if (inNamespace === false || !objectMatches(entry.objectSelector, attributes, object)) return undefined
    if (inNamespace !== true && !(await inNamespace)) return undefined
    const target = equivalent ?? request.asked
    if (entry.conditions === undefined) return target
    const { conditions } = entry
    const input = {
      request: await request.expressions(target),
      params: undefined,
      namespace: undefined,
      authorizer: request.authorizer,
    }
    const verdict = await withAuthorizations(() => conditions.decide(input))
    metrics.conditions.decided(entry.name, attributes.operation, verdict)
    if (verdict.error !== undefined && !entry.ignoresFailures)
      throw newForbidden(attributes.resource, attributes.name, verdict.error)
    if (verdict.matches) return target
    metrics.conditions.excluded(entry.name, attributes.operation)
    return undefined
  }

  /** The webhook's answer. Throws CallingWebhookError, WebhookRejection, or a StatusError of this server's own. */
  async call(webhook: Webhook, target: ServedKind, request: VersionedRequest): Promise<Verdict> {
    const { clock, metrics } = this.#options
    const { operation } = request.attributes
    const startedMs = clock.monotonicMs()
    const observe = (rejected: boolean, code: number): void =>
      metrics.called(webhook.name, operation, clock.monotonicMs() - startedMs, rejected, code)
    try {
      const verdict = await this.#ask(webhook, target, request)
      observe(false, 200)
      return verdict
    } catch (error) {
      if (error instanceof CallingWebhookError) this.#failed(webhook, operation, error, observe)
      else if (error instanceof WebhookRejection) {
        metrics.rejected(webhook.name, operation, 'no_error', error.answer.code)
        observe(true, error.answer.code)
      } else {
        metrics.rejected(webhook.name, operation, 'apiserver_internal_error', 0)
        observe(true, 0)
      }
      throw error
    }
  }

  #failed(
    { name, configuration, ignoresFailures }: Webhook,
    operation: string,
    error: CallingWebhookError,
    observe: (rejected: boolean, code: number) => void,
  ): void {
    const { metrics, failures } = this.#options
    if (ignoresFailures) metrics.failedOpen(name)
    else metrics.rejected(name, operation, 'calling_webhook_error', error.status)
    observe(!ignoresFailures, error.status)
    failures.failed(configuration, name, ignoresFailures ? 'Ignore' : 'Fail', error.message)
  }

  async #ask(webhook: Webhook, target: ServedKind, request: VersionedRequest): Promise<Verdict> {
    const { attributes } = request
    const { name, reviewVersion: version } = webhook
    checkDryRun(webhook, attributes)
    if (version === undefined)
      throw new CallingWebhookError(name, 'webhook does not accept known AdmissionReview versions (v1, v1beta1)', 400)
    const uid = randomUUID()
    const body = reviewText(version, uid, attributes, target, await request.texts(target))
    const verdict = await this.#post(webhook, version, uid, body, attributes)
    for (const [key, value] of Object.entries(verdict.auditAnnotations))
      attributes.addAnnotation(`${name}/${key}`, value)
    for (const warning of verdict.warnings) if (!hasControl(warning)) attributes.addWarning(warning)
    if (!verdict.allowed) throw rejection(name, verdict.status)
    return verdict
  }

  async #post(
    { name, clientConfig, timeoutSeconds }: Webhook,
    version: ReviewVersion,
    uid: string,
    body: string,
    attributes: AdmissionAttributes,
  ): Promise<Verdict> {
    const { transport, clock, reviewSchema, mutating } = this.#options
    const leftMs = attributes.deadlineMs === undefined ? Number.POSITIVE_INFINITY : attributes.deadlineMs - clock.now()
    const timeoutMs = Math.max(1, Math.min(timeoutSeconds * 1000, leftMs))
    try {
      const answer = await transport.post({ clientConfig, body, timeoutMs, signal: attributes.signal })
      const review = readReview(answer, reviewSchema(version), version)
      return verdictOf(review, version, uid, mutating)
    } catch (error) {
      if (error instanceof TransportError)
        throw new CallingWebhookError(name, `failed to call webhook: ${error.message}`, error.status)
      if (error instanceof ReviewError)
        throw new CallingWebhookError(name, `received invalid webhook response: ${error.message}`)
      throw error
    }
  }
}

function checkDryRun({ name, sideEffects }: Webhook, { dryRun }: AdmissionAttributes): void {
  if (!dryRun || sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return
  if (sideEffects === undefined) throw new CallingWebhookError(name, 'Webhook SideEffects is nil', 400)
  throw newBadRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`)
}

/** A warning goes out as a header, where such characters cannot stand. */
const hasControl = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

/** Kinds that no webhook sees, so that none can stand in the way of its own removal. */
export const isExempt = ({ resource }: Pick<AdmissionAttributes, 'resource'>): boolean =>
  resource.group === 'admissionregistration.k8s.io' && EXEMPT.has(resource.resource)

const EXEMPT: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])
