/** Thread: main. The form in which a client wants objects, when it is not the one that memory holds. */
import { type AcceptedMediaType, CONTENT_TYPES } from '../../api/media-type.js'
import { newBadRequest } from '../../api/status.js'
import type { ConversionShape } from '../../protocol/main-pool.js'
import { type ConversionForm, conversionForm, shaped } from './converter.js'
import type { ServedResource } from './served-resource.js'

export interface ObjectForm {
  readonly form: ConversionForm
  readonly contentType: string
  /** Whether the form is JSON, which ends with a new line. */
  readonly isText: boolean
  readonly accepted: AcceptedMediaType
}

const INCLUDES: ReadonlySet<string> = new Set(['', 'None', 'Metadata', 'Object'])

/** `memory` is the number of the arena: in another one an object at the same revision may be another object. */
export function objectForm(
  resource: ServedResource,
  memory: number,
  accepted: AcceptedMediaType,
  accept: string,
  query: URLSearchParams,
  shape: ConversionShape = 'whole',
): ObjectForm {
  const include = accepted.transformation?.as === 'Table' ? (query.get('includeObject') ?? '') : ''
  if (!INCLUDES.has(include)) throw newBadRequest(`unrecognized includeObject value: ${JSON.stringify(include)}`)
  const whole = conversionForm(resource, accepted, accept, include, memory)
  return {
    form: shape === 'whole' ? whole : shaped(whole, shape),
    contentType: CONTENT_TYPES[accepted.serialization],
    isText: accepted.serialization === 'json',
    accepted,
  }
}

/**
 * Whether one object, or a list put together from single objects, can be shown in the form by conversion. Other reads
 * are answered by the pool.
 */
export function isConvertible({ serialization, transformation, pretty }: AcceptedMediaType, list: boolean): boolean {
  if (pretty || (serialization === 'yaml' && (list || transformation !== undefined))) return false
  if (transformation === undefined || transformation.as === 'Table') return true
  return transformation.as === (list ? 'PartialObjectMetadataList' : 'PartialObjectMetadata')
}

/** The shape into which each object of a convertible read is made. */
export function readShape({ serialization, transformation }: AcceptedMediaType, list: boolean): ConversionShape {
  if (serialization === 'yaml') return 'yaml'
  return list && transformation?.as === 'Table' ? 'row' : 'whole'
}
