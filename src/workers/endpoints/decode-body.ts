/** Thread: pool. From a request's bytes to an object of the kind that the path serves. */
import { checkJsonSize, DecodedSizeError } from '../../api/decoded-size.js'
import { formatGroupVersion, type GroupVersionKind } from '../../api/group-version.js'
import { type Decoded, decodeJson, decodeTree, type JsonPath } from '../../api/json/decode.js'
import { DecodeError } from '../../api/json/decode-error.js'
import type { ParsedJson } from '../../api/json/parse.js'
import { JsonSyntaxError } from '../../api/json/syntax-error.js'
import { parseMediaType } from '../../api/media-type.js'
import { isJsonObject, type KubeObject } from '../../api/object.js'
import { decodeRequestMessage } from '../../api/protobuf/decode-message.js'
import { decodeEnvelope } from '../../api/protobuf/envelope.js'
import { ProtobufError } from '../../api/protobuf/protobuf-error.js'
import { newBadRequest, newRequestEntityTooLarge, newUnsupportedMediaType } from '../../api/status.js'
import { parseYaml, YamlError } from '../../api/yaml/yaml.js'
import type { CompiledSchema } from '../../apiextensions/schema/interface.js'
import type { Endpoint } from './endpoint.js'
import type { FieldValidation } from './write-options.js'

const ACCEPTED_CUSTOM = 'application/json, application/yaml'
const ACCEPTED = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'

export type BodyFormat = 'json' | 'yaml' | 'protobuf'

/** The format of a body; without a content type it is JSON. */
export function bodyFormat(contentType: string): BodyFormat {
  if (contentType === '' || contentType === 'application/json') return 'json'
  switch (parseMediaType(contentType)?.type) {
    case 'application/json':
      return 'json'
    case 'application/yaml':
      return 'yaml'
    case 'application/vnd.kubernetes.protobuf':
      return 'protobuf'
    default:
      throw newUnsupportedMediaType(
        `the body of the request was in an unknown format - accepted media types include: ${ACCEPTED}`,
      )
  }
}

export interface DecodeOptions {
  readonly contentType: string
  readonly fieldValidation: FieldValidation
  addWarning(text: string): void
  /** Is told of lists and maps that are there and empty. */
  noteEmptied?(paths: readonly JsonPath[]): void
  /** Is told of numbers of a custom object that are whole and were written as 4.0. */
  noteWholeFloats?(wholeFloats: ParsedJson['wholeFloats']): void
}

/** The object in the endpoint's version, with kind and apiVersion set and defaults filled in. Throws BadRequest. */
export function decodeBody(endpoint: Endpoint, body: Uint8Array, options: DecodeOptions): KubeObject {
  const format = bodyFormat(options.contentType)
  const { kind } = endpoint
  const decoded = decode(endpoint, body, format)
  const { object } = decoded
  options.noteEmptied?.(decoded.emptied)
  options.noteWholeFloats?.(decoded.wholeFloats)
  // A custom object of another kind is refused when it is validated, with what else is wrong.
  const isCustom = endpoint.custom !== undefined && endpoint.handler === undefined
  if (!isCustom) checkKind(object, kind, endpoint.handler?.acceptedVersions)
  reportStrict(
    decoded.strictErrors,
    options,
    `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: strict decoding error: `,
  )
  if (isCustom) checkKind({ ...object, kind: kind.kind }, kind)
  object.apiVersion = formatGroupVersion(kind)
  if (!isCustom || (object.kind ?? '') === '') object.kind = kind.kind
  endpoint.rules.setDefaults?.(object)
  return object
}

function decode(endpoint: Endpoint, body: Uint8Array, format: BodyFormat): Decoded {
  const { schema, kind, handler, custom } = endpoint
  try {
    if (custom !== undefined && endpoint.handler === undefined) return decodeCustom(custom.schema, body, format)
    if (format === 'json') {
      checkJsonSize(body)
      return decodeJson(body, schema)
    }
    if (format === 'yaml') {
      const parsed = parseYaml(Buffer.from(body).toString())
      const decoded = decodeTree(parsed.value, schema)
      return {
        ...decoded,
        strictErrors: [...parsed.strictErrors, ...decoded.strictErrors],
      }
    }
    const envelope = decodeEnvelope(body)
    checkKind(envelope, kind, handler?.acceptedVersions)
    return decodeTree(decodeRequestMessage(envelope.raw, schema), schema)
  } catch (error) {
    if (error instanceof DecodedSizeError) throw newRequestEntityTooLarge(error.message)
    if (error instanceof JsonSyntaxError || error instanceof YamlError) {
      throw newBadRequest(
        `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; ${format} parse error: ${error.message}`,
      )
    }
    if (error instanceof ProtobufError)
      throw newBadRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${error.message}`)
    if (error instanceof DecodeError) {
      throw newBadRequest(
        `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: ${error.message}`,
      )
    }
    throw error
  }
}

function decodeCustom(schema: CompiledSchema, body: Uint8Array, format: BodyFormat): Decoded {
  if (format === 'protobuf')
    throw newUnsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${ACCEPTED_CUSTOM}`,
    )
  if (format === 'json') {
    return { ...schema.decode(body), emptied: [] }
  }
  const { value, strictErrors } = parseYaml(Buffer.from(body).toString())
  if (!isJsonObject(value)) throw new DecodeError('what is no object is sent for one', '')
  const admitted = schema.admit(value, { origin: 'request' })
  return { object: value, strictErrors: [...strictErrors, ...admitted.strictErrors], emptied: [] }
}

/** A body without kind or apiVersion is taken for the endpoint's own; one with another kind or apiVersion is refused. */
export function checkKind(
  object: { readonly kind?: string; readonly apiVersion?: string },
  expected: GroupVersionKind,
  alsoAccepted: readonly string[] = [],
): void {
  const { kind = '', apiVersion = '' } = object
  const wanted = formatGroupVersion(expected)
  if (kind !== '' && kind !== expected.kind) {
    throw newBadRequest(
      `${kind} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${expected.kind}: no kind ${JSON.stringify(kind)} is registered here`,
    )
  }
  if (apiVersion !== '' && apiVersion !== wanted && !alsoAccepted.includes(apiVersion)) {
    throw newBadRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`,
    )
  }
}

/** Kubernetes' strict decoder reports at most so many errors of one body. */
const MAX_STRICT_ERRORS = 100

export const limitedStrict = (found: readonly string[]): readonly string[] => found.slice(0, MAX_STRICT_ERRORS)

/** Makes an error, warnings, or nothing of what a strict decoder found, as the client chose. */
export function reportStrict(
  found: readonly string[],
  { fieldValidation, addWarning }: Omit<DecodeOptions, 'contentType'>,
  prefix: string,
): void {
  if (found.length === 0 || fieldValidation === 'Ignore') return
  const errors = limitedStrict(found)
  if (fieldValidation === 'Strict') throw newBadRequest(`${prefix}${errors.join(', ')}`)
  for (const error of errors) addWarning(error)
}
