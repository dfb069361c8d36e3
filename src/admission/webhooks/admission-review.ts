/** Thread: pool. AdmissionReview in its two versions: what a webhook is sent, and whether what it sends back is an answer to it. */
import type { AdmissionReview } from '../../api/generated/kinds/admission.v1.js'
import { formatGroupVersion } from '../../api/group-version.js'
import { decodeJson } from '../../api/json/decode.js'
import { DecodeError } from '../../api/json/decode-error.js'
import { encodeUntyped } from '../../api/json/encode.js'
import { JsonSyntaxError } from '../../api/json/syntax-error.js'
import type { Json } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'
import type { AdmissionAttributes } from '../chain.js'
import type { ServedKind } from '../matching/admission-kinds.js'
import type { ReviewVersion } from './webhook.js'
import type { GivenStatus } from './webhook-errors.js'

const GROUP = 'admission.k8s.io'
const OPTIONS_VERSION = 'meta.k8s.io/v1'
const OPTIONS_KINDS = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const

export interface ReviewedTexts {
  /** JSON, `null` when there is none. */
  readonly object: string
  readonly oldObject: string
}

/** A review as text; the objects in it are text already, made once for all webhooks that ask for their version. */
export function reviewText(
  version: ReviewVersion,
  uid: string,
  attributes: AdmissionAttributes,
  invoked: ServedKind,
  { object, oldObject }: ReviewedTexts,
): string {
  const { operation, subresource, name, namespace, user, dryRun } = attributes
  const whole = { uid, kind: invoked.kind, resource: invoked.resource, ...part('subResource', invoked.subresource) }
  const asked = {
    requestKind: attributes.kind,
    requestResource: attributes.resource,
    ...part('requestSubResource', subresource),
  }
  const extra = Object.keys(user.extra).length === 0 ? {} : { extra: user.extra }
  const userInfo = { ...part('username', user.name), ...part('uid', user.uid), groups: user.groups, ...extra }
  const request = {
    ...whole,
    ...asked,
    ...part('name', name),
    ...part('namespace', namespace),
    operation,
    userInfo,
  }
  const head = encodeUntyped(request as unknown as Json)
  return `{"kind":"AdmissionReview","apiVersion":"${GROUP}/${version}","request":${head.slice(0, -1)},"object":${object},"oldObject":${oldObject},"dryRun":${dryRun},"options":${optionsText(attributes)}}}`
}

const part = (name: string, value: string): Record<string, string> => (value === '' ? {} : { [name]: value })

function optionsText({ operation, options }: AdmissionAttributes): string {
  if (operation === 'CONNECT') return 'null'
  const kind = OPTIONS_KINDS[operation]
  return encodeUntyped({ kind, apiVersion: OPTIONS_VERSION, ...(options as Record<string, Json>) })
}

/** What a webhook answered, checked. */
export interface Verdict {
  readonly allowed: boolean
  readonly status: GivenStatus | undefined
  readonly warnings: readonly string[]
  readonly auditAnnotations: Readonly<Record<string, string>>
  /** Decoded from base64; undefined when there is none. */
  readonly patch: Buffer | undefined
  readonly patchType: string
}

/** An answer that is none; the message says why. */
export class ReviewError extends Error {
  override readonly name = 'ReviewError'
  readonly code = 'review'
}

/** Reads an answer. Throws ReviewError. */
export function readReview(body: Uint8Array, schema: StructSchema, version: ReviewVersion): AdmissionReview {
  try {
    const review = decodeJson(body, schema).object as AdmissionReview
    const wanted = formatGroupVersion({ group: GROUP, version })
    const { kind = '', apiVersion = '' } = review
    if (kind !== 'AdmissionReview' || apiVersion !== wanted)
      throw new ReviewError(`expected an AdmissionReview of ${wanted}, got ${JSON.stringify(`${apiVersion} ${kind}`)}`)
    return review
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof DecodeError)
      throw new ReviewError(`couldn't get version/kind; json parse error: ${error.message}`)
    throw error
  }
}

/** Checks an answer. Throws ReviewError. Of v1beta1 neither uid nor patchType are looked at. */
export function verdictOf(review: AdmissionReview, version: ReviewVersion, uid: string, mutating: boolean): Verdict {
  const { response } = review
  if (response === undefined || response === null) throw new ReviewError('webhook response was absent')
  const patch = (response.patch ?? '') === '' ? undefined : Buffer.from(response.patch!, 'base64')
  if (version === 'v1') checkStrictly(response, uid, mutating)
  return {
    allowed: response.allowed ?? false,
    status: (response.status ?? undefined) as GivenStatus | undefined,
    warnings: response.warnings ?? [],
    auditAnnotations: response.auditAnnotations ?? {},
    patch: mutating ? patch : undefined,
    patchType: version === 'v1' ? (response.patchType ?? '') : 'JSONPatch',
  }
}

function checkStrictly(response: NonNullable<AdmissionReview['response']>, uid: string, mutating: boolean): void {
  if (response.uid !== uid)
    throw new ReviewError(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`)
  const hasPatch = (response.patch ?? '') !== ''
  const hasType = response.patchType !== undefined && response.patchType !== null
  if (!mutating) {
    if (hasPatch) throw new ReviewError('validating webhook may not return response.patch')
    if (hasType) throw new ReviewError('validating webhook may not return response.patchType')
    return
  }
  if (hasPatch && !hasType) throw new ReviewError('webhook returned response.patch but not response.patchType')
  if (!hasPatch && hasType) throw new ReviewError('webhook returned response.patchType but not response.patch')
  if (hasType && response.patchType === '') throw new ReviewError('webhook returned invalid response.patchType of ""')
}
