/**
 * Thread: pool. Objects of one definition in its other versions, by the webhook that the definition names. Objects go in batches;
 * what comes back is checked, and pruned by the schema of the version that was asked for. A failure is a Status of 500
 * without a reason, as kube-apiserver answers it.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { WebhookClientConfig } from '../../api/generated/kinds/apiextensions.v1.js'
import { DecodeError } from '../../api/json/decode-error.js'
import { type Json, type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import { newUnknown, type StatusError } from '../../api/status.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import {
  ConversionReviewError,
  type ConversionReviewVersion,
  conversionReviewText,
  convertedObjects,
  reviewedText,
} from './conversion-review.js'
import type { ConvertedCache } from './converted-cache.js'
import { acceptedObject, ConvertedObjectError } from './converted-object.js'
import type { ObjectConverter } from './interface.js'

/** kube-apiserver's: nothing in a definition says otherwise. */
const TIMEOUT_MS = 30_000
/** The most objects and characters of one review: enough to be worth the call, few enough for the answer to be soon there. */
const BATCH_OBJECTS = 128
const BATCH_CHARACTERS = 1024 * 1024
/** Reviews of one list that are under way together. */
const BATCHES_AT_ONCE = 4
/** The largest answer: as much as an object may be, and twice what was sent. */
const MAX_ANSWER_BYTES = 3 * 1024 * 1024

/** As kube-apiserver's metric of conversions tells failures apart. */
export type ConversionFailure =
  | 'conversion_webhook_call_failure'
  | 'conversion_webhook_malformed_response_failure'
  | 'conversion_webhook_partial_response_failure'
  | 'conversion_webhook_invalid_converted_object_failure'

export interface ConversionCall {
  readonly clientConfig: WebhookClientConfig
  readonly body: string
  readonly timeoutMs: number
  readonly maxAnswerBytes: number
  readonly signal: CancelSignal | undefined
}

export interface WebhookConverterOptions {
  readonly clientConfig: WebhookClientConfig
  readonly reviewVersion: ConversionReviewVersion | undefined
  /** Stands for the definition as it is now: what was converted by it before a change is not used after it. */
  readonly definitionKey: string
  /** Throws an Error that says why the webhook could not be asked. */
  readonly post: (call: ConversionCall) => Promise<Uint8Array>
  /** Takes out of an object, in place, what the schema of its version does not know. Throws DecodeError. */
  readonly prune: (object: JsonObject, apiVersion: string) => void
  readonly cache: ConvertedCache
  /** Told of every review that has ended. */
  readonly ended: (
    from: string,
    to: string,
    durationMs: number,
    failure: ConversionFailure | undefined,
    why: string,
  ) => void
  readonly clock: Clock
}

interface Item {
  readonly at: number
  readonly object: KubeObject
  readonly text: string
}

export class WebhookConverter implements ObjectConverter {
  readonly #options: WebhookConverterOptions

  constructor(options: WebhookConverterOptions) {
    this.#options = options
  }

  async convert(objects: readonly KubeObject[], apiVersion: string, signal?: CancelSignal): Promise<KubeObject[]> {
    const items = itemsOf(objects, apiVersion)
    return inPlace(objects, apiVersion, items, await this.#convert(items, apiVersion, signal))
  }

  async convertStored(
    objects: readonly KubeObject[],
    apiVersion: string,
    signal?: CancelSignal,
  ): Promise<KubeObject[]> {
    const { cache, definitionKey } = this.#options
    const items = itemsOf(objects, apiVersion)
    const keys = items.map(({ text }) => `${definitionKey}|${apiVersion}|${digest(text)}`)
    const found = items.map(({ object }, i) => versioned(cache.get(keys[i]!), object))
    const missing = items.filter((_, i) => found[i] === undefined)
    const made = (await this.#convert(missing, apiVersion, signal)).values()
    for (const [i, { text }] of items.entries()) {
      if (found[i] !== undefined) continue
      found[i] = made.next().value!
      cache.set(keys[i]!, found[i], text.length)
    }
    return inPlace(objects, apiVersion, items, found as KubeObject[])
  }

  async #convert(items: readonly Item[], apiVersion: string, signal: CancelSignal | undefined): Promise<KubeObject[]> {
    const batches = batchesOf(items)
    const made: (readonly KubeObject[])[] = []
    const queue = batches.entries()
    const work = async (): Promise<void> => {
      for (const [at, batch] of queue) made[at] = await this.#review(batch, apiVersion, signal)
    }
    await Promise.all(Array.from({ length: Math.min(BATCHES_AT_ONCE, batches.length) }, work))
    return made.flat()
  }

  async #review(
    items: readonly Item[],
    apiVersion: string,
    signal: CancelSignal | undefined,
  ): Promise<readonly KubeObject[]> {
    const { apiVersion: from = '', kind = '' } = items[0]!.object
    const { clock, ended } = this.#options
    const startedMs = clock.monotonicMs()
    const refused = (failure: ConversionFailure, why: string): StatusError => {
      ended(from, apiVersion, clock.monotonicMs() - startedMs, failure, why)
      return newUnknown(`conversion webhook for ${from}, Kind=${kind} ${why}`)
    }
    const uid = randomUUID()
    const answer = await this.#ask(uid, items, apiVersion, signal, refused)
    const objects = this.#answered(uid, answer, refused)
    if (objects.length !== items.length)
      throw refused(
        'conversion_webhook_partial_response_failure',
        `returned ${objects.length} objects, expected ${items.length}`,
      )
    const made = items.map(({ object }, i) => this.#accepted(object, objects[i]!, apiVersion, items.length, i, refused))
    ended(from, apiVersion, clock.monotonicMs() - startedMs, undefined, '')
    return made
  }

  async #ask(
    uid: string,
    items: readonly Item[],
    apiVersion: string,
    signal: CancelSignal | undefined,
    refused: (failure: ConversionFailure, why: string) => StatusError,
  ): Promise<Uint8Array> {
    const { post, clientConfig, reviewVersion } = this.#options
    if (reviewVersion === undefined) throw newUnknown('no supported conversion review versions')
    const texts = items.map(({ text }) => text)
    const body = conversionReviewText(reviewVersion, uid, texts, apiVersion)
    const maxAnswerBytes = MAX_ANSWER_BYTES + 2 * Buffer.byteLength(body)
    try {
      return await post({ clientConfig, body, timeoutMs: TIMEOUT_MS, maxAnswerBytes, signal })
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw refused('conversion_webhook_call_failure', `failed: ${why}`)
    }
  }

  #answered(
    uid: string,
    answer: Uint8Array,
    refused: (failure: ConversionFailure, why: string) => StatusError,
  ): readonly Json[] {
    try {
      return convertedObjects(answer, this.#options.reviewVersion!, uid)
    } catch (error) {
      if (!(error instanceof ConversionReviewError)) throw error
      throw refused('conversion_webhook_malformed_response_failure', `failed: ${error.message}`)
    }
  }

  #accepted(
    original: KubeObject,
    given: Json,
    apiVersion: string,
    count: number,
    index: number,
    refused: (failure: ConversionFailure, why: string) => StatusError,
  ): KubeObject {
    try {
      const object = acceptedObject(original, given, apiVersion)
      this.#options.prune(object as JsonObject, apiVersion)
      return object
    } catch (error) {
      if (!(error instanceof ConvertedObjectError || error instanceof DecodeError)) throw error
      const about = error instanceof ConvertedObjectError ? error.about : 'metadata'
      const what = `returned ${FAULTS[about](count, index)}: ${error.message}`
      throw refused('conversion_webhook_invalid_converted_object_failure', what)
    }
  }
}

const FAULTS: Readonly<Record<ConvertedObjectError['about'], (count: number, index: number) => string>> = {
  type: (_, index) => `invalid object at index ${index}`,
  identity: (count, index) => (count === 1 ? 'invalid object' : `invalid converted object at index ${index}`),
  metadata: (count, index) => (count === 1 ? 'invalid metadata' : `invalid metadata in object at index ${index}`),
}

/** The objects that have to be converted. One that says nothing means nothing in any version. */
const itemsOf = (objects: readonly KubeObject[], apiVersion: string): Item[] =>
  objects.flatMap((object, at) =>
    object.apiVersion === apiVersion || isEmpty(object) ? [] : [{ at, object, text: reviewedText(object) }],
  )

/** The objects, with those that were converted in the places of the items. */
function inPlace(
  objects: readonly KubeObject[],
  apiVersion: string,
  items: readonly Item[],
  converted: readonly KubeObject[],
): KubeObject[] {
  const all = objects.map((object) => (object.apiVersion === apiVersion ? object : { ...object, apiVersion }))
  for (const [i, { at }] of items.entries()) all[at] = converted[i]!
  return all
}

/** The text of an object lacks its resourceVersion, which is all that two states of one text differ in. */
function versioned(converted: KubeObject | undefined, { metadata }: KubeObject): KubeObject | undefined {
  if (converted === undefined) return undefined
  const { resourceVersion } = metadata ?? {}
  if (resourceVersion === undefined) delete metadataOf(converted).resourceVersion
  else metadataOf(converted).resourceVersion = resourceVersion
  return converted
}

const digest = (text: string): string => createHash('sha256').update(text).digest('base64')

function isEmpty(object: KubeObject): boolean {
  for (const key in object) if (key !== 'apiVersion' && key !== 'kind') return false
  return true
}

function batchesOf(items: readonly Item[]): Item[][] {
  const batches: Item[][] = []
  let characters = 0
  for (const item of items) {
    const last = batches.at(-1)
    const fits = last !== undefined && last.length < BATCH_OBJECTS && characters + item.text.length <= BATCH_CHARACTERS
    if (fits) last.push(item)
    else batches.push([item])
    characters = fits ? characters + item.text.length : item.text.length
  }
  return batches
}
