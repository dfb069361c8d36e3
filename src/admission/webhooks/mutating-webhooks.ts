/**
 * Thread: pool. MutatingAdmissionWebhook: webhooks that may change an object, one after the other in the order of their
 * configurations' names; each sees what those before it made. When one has changed something, the chain runs once more, and
 * those with reinvocationPolicy IfNeeded that were called before a change are called again.
 */

import { parseJson } from '../../api/json/parse.js'
import { JsonSyntaxError } from '../../api/json/syntax-error.js'
import { goJson } from '../../api/managed-fields/go-json.js'
import type { Json, KubeObject } from '../../api/object.js'
import { deepCopy } from '../../api/object.js'
import { newInternalError, newTimeout } from '../../api/status.js'
import type { AdmissionAttributes, AdmissionPlugin, Reinvocation } from '../chain.js'
import type { AdmissionKinds, ServedKind } from '../matching/admission-kinds.js'
import { equalJson } from '../matching/equal-json.js'
import type { Candidate } from '../matching/rule-index.js'
import { notReady } from '../not-ready.js'
import type { Verdict } from './admission-review.js'
import type { VersionedRequest } from './versioned-request.js'
import type { Webhook } from './webhook.js'
import { isExempt, type WebhookCaller } from './webhook-caller.js'
import { CallingWebhookError, WebhookRejection } from './webhook-errors.js'
import type { WebhookSource } from './webhook-source.js'

const ANNOTATION = 'mutation.webhook.admission.k8s.io/'
const PATCH_ANNOTATION = 'patch.webhook.admission.k8s.io/'
const FAILED_OPEN = `failed-open.${ANNOTATION}`

/** What the first round leaves for the second. */
interface Rounds {
  /** Webhooks that were called and want to be called again when something changes after them. */
  readonly called: Set<string>
  /** Those of them after which something has changed. */
  readonly toReinvoke: Set<string>
  /** The object as the webhooks left it; kept only when somebody may be called again. */
  output: Json | undefined
}

export class MutatingAdmissionWebhook implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionWebhook'
  readonly #source: WebhookSource
  readonly #caller: WebhookCaller
  readonly #kinds: AdmissionKinds
  readonly #rounds = new WeakMap<Reinvocation, Rounds>()

  constructor(source: WebhookSource, caller: WebhookCaller, kinds: AdmissionKinds) {
    this.#source = source
    this.#caller = caller
    this.#kinds = kinds
  }

  handles(attributes: Pick<AdmissionAttributes, 'resource'>): boolean {
    return !isExempt(attributes)
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    if (!this.#source.sync()) throw notReady(attributes)
    const candidates = this.#source.candidates(attributes)
    return candidates.length === 0 ? undefined : this.#dispatch(attributes, candidates)
  }

  async #dispatch(attributes: AdmissionAttributes, candidates: readonly Candidate<Webhook>[]): Promise<void> {
    const rounds = this.#roundsOf(attributes)
    const { reinvocation } = attributes
    if (reinvocation.isReinvoke && !equalJson(rounds.output, attributes.object as unknown as Json)) requireAll(rounds)
    const request = this.#caller.versioned(attributes)
    try {
      for (const candidate of candidates) {
        const target = await this.#caller.invoked(candidate, request)
        if (target === undefined) continue
        if (reinvocation.isReinvoke && !rounds.toReinvoke.delete(candidate.entry.uid)) continue
        if (await this.#callOne(candidate, target, request)) {
          requireAll(rounds)
          reinvocation.requested = true
        }
        if (candidate.entry.isReinvoked) rounds.called.add(candidate.entry.uid)
      }
      await request.takeOver()
    } finally {
      if (rounds.called.size > 0) rounds.output = deepCopy(attributes.object as unknown as Json)
    }
  }

  #roundsOf({ reinvocation }: AdmissionAttributes): Rounds {
    let rounds = this.#rounds.get(reinvocation)
    if (rounds === undefined) {
      rounds = { called: new Set(), toReinvoke: new Set(), output: undefined }
      this.#rounds.set(reinvocation, rounds)
    }
    return rounds
  }

  /** Calls a webhook and applies what it answers; gives whether it changed the object. */
  async #callOne(candidate: Candidate<Webhook>, target: ServedKind, request: VersionedRequest): Promise<boolean> {
    const { entry, index } = candidate
    const { attributes } = request
    const place = `round_${attributes.reinvocation.isReinvoke ? 1 : 0}_index_${index}`
    let mutated = false
    try {
      const verdict = await this.#caller.call(entry, target, request)
      mutated = await this.#applyPatch(entry, target, request, verdict, place)
      return mutated
    } catch (error) {
      if (error instanceof WebhookRejection) throw error.answer
      if (!(error instanceof CallingWebhookError)) throw error
      if (!entry.ignoresFailures) throw newInternalError(error.message)
      attributes.addAnnotation(`${FAILED_OPEN}${place}`, entry.name)
      if (attributes.signal?.aborted) throw newTimeout('request did not complete within requested timeout', 0)
      return false
    } finally {
      attributes.addAnnotation(
        `${ANNOTATION}${place}`,
        JSON.stringify({ configuration: entry.configuration, webhook: entry.name, mutated }),
      )
    }
  }

  async #applyPatch(
    { name, configuration }: Webhook,
    target: ServedKind,
    request: VersionedRequest,
    { patch, patchType }: Verdict,
    place: string,
  ): Promise<boolean> {
    const operations = patch === undefined ? [] : decodePatch(name, patch)
    if (operations.length === 0) return false
    const { object } = await request.in(target)
    if (object === undefined)
      throw newInternalError(
        `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
      )
    if (patchType !== 'JSONPatch')
      throw new CallingWebhookError(name, `unsupported patch type ${JSON.stringify(patchType)}`, 400)
    const next = this.#patched(object, operations, target)
    request.attributes.addAnnotation(
      `${PATCH_ANNOTATION}${place}`,
      `{"configuration":${JSON.stringify(configuration)},"webhook":${JSON.stringify(name)},"patch":${goJson([...operations])},"patchType":${JSON.stringify(patchType)}}`,
    )
    const changed = !equalJson(object as unknown as Json, next as unknown as Json)
    request.replace(next)
    return changed
  }

  #patched(object: KubeObject, operations: readonly Json[], target: ServedKind): KubeObject {
    try {
      const tree = parseJson(Buffer.from(this.#kinds.encode(object, target))).value
      return this.#kinds.decode(this.#kinds.patch(tree, [...operations]), target)
    } catch (error) {
      throw newInternalError(error instanceof Error ? error.message : String(error))
    }
  }
}

/** Something has changed: all that were called and want to be called again are. */
function requireAll(rounds: Rounds): void {
  for (const uid of rounds.called) rounds.toReinvoke.add(uid)
  rounds.called.clear()
}

function decodePatch(webhook: string, patch: Buffer): readonly Json[] {
  try {
    const { value } = parseJson(patch)
    if (value === null) return []
    if (Array.isArray(value)) return value
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new CallingWebhookError(webhook, `received undecodable patch in webhook response: ${error.message}`)
  }
  throw new CallingWebhookError(webhook, 'received undecodable patch in webhook response: it is no list')
}
