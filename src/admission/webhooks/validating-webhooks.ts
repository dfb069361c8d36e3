/**
 * Thread: pool. ValidatingAdmissionWebhook: webhooks that may refuse the finished object. All whose turn it is are asked side by
 * side; the request waits for all of them and is refused with what the first that refused said.
 */
import { newInternalError, newTimeout } from '../../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import type { ServedKind } from '../matching/admission-kinds.js'
import type { Candidate } from '../matching/rule-index.js'
import { notReady } from '../not-ready.js'
import type { VersionedRequest } from './versioned-request.js'
import type { Webhook } from './webhook.js'
import { isExempt, type WebhookCaller } from './webhook-caller.js'
import { CallingWebhookError, WebhookRejection } from './webhook-errors.js'
import type { WebhookSource } from './webhook-source.js'

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/'

export class ValidatingAdmissionWebhook implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionWebhook'
  readonly #source: WebhookSource
  readonly #caller: WebhookCaller

  constructor(source: WebhookSource, caller: WebhookCaller) {
    this.#source = source
    this.#caller = caller
  }

  handles(attributes: Pick<AdmissionAttributes, 'resource'>): boolean {
    return !isExempt(attributes)
  }

  validate(attributes: AdmissionAttributes): Promise<void> | void {
    if (!this.#source.sync()) throw notReady(attributes)
    const candidates = this.#source.candidates(attributes)
    return candidates.length === 0 ? undefined : this.#dispatch(attributes, candidates)
  }

  async #dispatch(attributes: AdmissionAttributes, candidates: readonly Candidate<Webhook>[]): Promise<void> {
    const request = this.#caller.versioned(attributes)
    const invocations: { webhook: Webhook; target: ServedKind }[] = []
    for (const candidate of candidates) {
      const target = await this.#caller.invoked(candidate, request)
      if (target === undefined) continue
      invocations.push({ webhook: candidate.entry, target })
      // Texts are made here, once, so that calls that begin together do not make them each for itself.
      await request.texts(target)
    }
    if (attributes.signal?.aborted) throw newTimeout('request did not complete within requested timeout', 0)
    const refusals: unknown[] = []
    await Promise.all(
      invocations.map(async ({ webhook, target }, index) => {
        const refusal = await this.#callOne(webhook, target, request, index)
        if (refusal !== undefined) refusals.push(refusal)
      }),
    )
    if (refusals.length > 0) throw refusals[0]
  }

  /** What the request is to be refused with; undefined when the webhook lets it pass, or fails and may. */
  async #callOne(webhook: Webhook, target: ServedKind, request: VersionedRequest, index: number): Promise<unknown> {
    try {
      await this.#caller.call(webhook, target, request)
      return undefined
    } catch (error) {
      if (error instanceof WebhookRejection) return error.answer
      if (!(error instanceof CallingWebhookError)) return error
      if (!webhook.ignoresFailures) return newInternalError(error.message)
      request.attributes.addAnnotation(`${FAILED_OPEN}round_0_index_${index}`, webhook.name)
      return undefined
    }
  }
}
