/** Thread: pool. ConversionReview in its two versions: what a webhook is sent, and whether what it sends back answers it. */
import { encodeUntyped } from '../../api/json/encode.js'
import { parseJson } from '../../api/json/parse.js'
import { JsonSyntaxError } from '../../api/json/syntax-error.js'
import { isJsonObject, type Json, type JsonObject, type KubeObject } from '../../api/object.js'

export type ConversionReviewVersion = 'v1' | 'v1beta1'

const GROUP = 'apiextensions.k8s.io'
const KIND = 'ConversionReview'
/** kube-apiserver sends the answer's empty form along; a webhook may rely on its being there. */
const EMPTY_RESPONSE = '{"uid":"","convertedObjects":null,"result":{"metadata":{}}}'

export const isConversionReviewVersion = (version: string): version is ConversionReviewVersion =>
  version === 'v1' || version === 'v1beta1'

/** An answer that is none, or says that it failed; the message says why. */
export class ConversionReviewError extends Error {
  override readonly name = 'ConversionReviewError'
  readonly code = 'conversion-review'
}

export function conversionReviewText(
  version: ConversionReviewVersion,
  uid: string,
  /** The objects as JSON: reviewedText. */
  texts: readonly string[],
  desiredAPIVersion: string,
): string {
  const desired = JSON.stringify(desiredAPIVersion)
  const request = `{"uid":"${uid}","desiredAPIVersion":${desired},"objects":[${texts.join(',')}]}`
  return `{"kind":"${KIND}","apiVersion":"${GROUP}/${version}","request":${request},"response":${EMPTY_RESPONSE}}`
}

/** An object as a webhook is sent it: without its resourceVersion, because it is converted as it is stored. */
export function reviewedText(object: KubeObject): string {
  if (object.metadata?.resourceVersion === undefined) return encodeUntyped(object as Json)
  const { resourceVersion: _, ...metadata } = object.metadata
  return encodeUntyped({ ...object, metadata } as unknown as Json)
}

/** The objects of an answer, as they came. Throws ConversionReviewError. Of v1beta1 neither kind nor uid are looked at. */
export function convertedObjects(body: Uint8Array, version: ConversionReviewVersion, uid: string): readonly Json[] {
  const review = parsed(body)
  if (version === 'v1' && (review['kind'] !== KIND || review['apiVersion'] !== `${GROUP}/v1`)) {
    const got = `${text(review['apiVersion'])}, Kind=${text(review['kind'])}`
    throw new ConversionReviewError(`expected webhook response of ${GROUP}/v1, Kind=${KIND}, got ${got}`)
  }
  const response = review['response'] ?? null
  if (!isJsonObject(response)) throw new ConversionReviewError('no response provided')
  if (version === 'v1' && response['uid'] !== uid) {
    const got = JSON.stringify(text(response['uid']))
    throw new ConversionReviewError(`expected response.uid=${JSON.stringify(uid)}, got ${got}`)
  }
  const result = isJsonObject(response['result'] ?? null) ? (response['result'] as JsonObject) : {}
  if (result['status'] !== 'Success') {
    const message = text(result['message'])
    const status = text(result['status'])
    throw new ConversionReviewError(message === '' ? `response.result.status was '${status}', not 'Success'` : message)
  }
  const objects = response['convertedObjects'] ?? []
  if (!Array.isArray(objects)) throw new ConversionReviewError('response.convertedObjects is no list')
  return objects
}

function parsed(body: Uint8Array): JsonObject {
  try {
    const { value } = parseJson(body)
    if (isJsonObject(value)) return value
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new ConversionReviewError(`couldn't get version/kind; json parse error: ${error.message}`)
  }
  throw new ConversionReviewError('the answer is no object')
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
