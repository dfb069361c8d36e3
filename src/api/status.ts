/** Thread: any. Status, the body of every error, and the constructors of its reasons: code, reason and details as Kubernetes fills them. */
import { type FieldError, OMITTED } from './field-error.js'
import { formatGroupResource, type GroupResource } from './group-version.js'

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  /** `continue`: of an expired list, a token that goes on at the newest revision. */
  readonly metadata: { readonly continue?: string }
  readonly status: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

/** An error that is its own answer to the client. */
export class StatusError extends Error {
  override readonly name = 'StatusError'
  readonly status: Status

  constructor(status: Status) {
    super(status.message ?? status.reason ?? 'unknown')
    this.status = status
  }

  get code(): number {
    return this.status.code ?? 500
  }

  get reason(): string {
    return this.status.reason ?? ''
  }
}

export interface GroupKind {
  readonly group: string
  readonly kind: string
}

export function isStatusError(error: unknown, reason?: string): error is StatusError {
  return error instanceof StatusError && (reason === undefined || error.status.reason === reason)
}

/** The answer to a request that succeeded and has no object to show. */
export function successStatus(details?: StatusDetails, code?: number): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    ...(details === undefined ? {} : { details }),
    ...(code === undefined ? {} : { code }),
  }
}

function failure(code: number, reason: string | undefined, message: string, details?: StatusDetails): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  })
}

/** In details, `kind` holds the resource's name for errors about a stored object. */
function about({ group, resource }: GroupResource, name: string): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(resource === '' ? {} : { kind: resource }),
  }
}

const quoted = (resource: GroupResource, name: string): string =>
  `${formatGroupResource(resource)} ${JSON.stringify(name)}`

export const newNotFound = (resource: GroupResource, name: string): StatusError =>
  failure(404, 'NotFound', `${quoted(resource, name)} not found`, about(resource, name))

export const newAlreadyExists = (resource: GroupResource, name: string): StatusError =>
  failure(409, 'AlreadyExists', `${quoted(resource, name)} already exists`, about(resource, name))

export const newGenerateNameConflict = (
  resource: GroupResource,
  name: string,
  retryAfterSeconds: number,
): StatusError =>
  failure(
    409,
    'AlreadyExists',
    `${quoted(resource, name)} already exists, the server was not able to generate a unique name for the object`,
    {
      ...about(resource, name),
      retryAfterSeconds,
    },
  )

export const newConflict = (resource: GroupResource, name: string, why: string): StatusError =>
  failure(409, 'Conflict', `Operation cannot be fulfilled on ${quoted(resource, name)}: ${why}`, about(resource, name))

export const newApplyConflict = (causes: readonly StatusCause[], message: string): StatusError =>
  failure(409, 'Conflict', message, { causes })

export const newMethodNotSupported = (resource: GroupResource, verb: string): StatusError =>
  failure(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind ${JSON.stringify(formatGroupResource(resource))}`,
    about(resource, ''),
  )

export const newBadRequest = (message: string): StatusError => failure(400, 'BadRequest', message)
export const newUnauthorized = (message: string): StatusError => failure(401, 'Unauthorized', message)
export const newRequestEntityTooLarge = (message: string): StatusError =>
  failure(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)
export const newUnsupportedMediaType = (message: string): StatusError => failure(415, 'UnsupportedMediaType', message)
/** A PATCH in a form that is none: nothing of it was read. `generic`: details are empty; else there are none. */
export const newUnsupportedMediaTypeGeneric = (generic = true): StatusError =>
  failure(415, 'UnsupportedMediaType', '415: Unsupported Media Type', generic ? {} : undefined)
/** `generic`: nothing was understood yet, so details are empty; else there are none. */
export const newNotAcceptable = (message: string, generic = true): StatusError =>
  failure(406, 'NotAcceptable', message, generic ? {} : undefined)
export const newServiceUnavailable = (message: string): StatusError => failure(503, 'ServiceUnavailable', message)
export function newExpired(message: string, continueToken?: string): StatusError {
  const expired = failure(410, 'Expired', message)
  return continueToken === undefined
    ? expired
    : new StatusError({ ...expired.status, metadata: { continue: continueToken } })
}

/** Without a resource: a path that is none. */
export const newForbidden = (
  resource: GroupResource,
  name: string,
  why: string,
  causes?: readonly StatusCause[],
): StatusError =>
  failure(
    403,
    'Forbidden',
    resource.resource === '' && resource.group === ''
      ? `forbidden: ${why}`
      : `${formatGroupResource(resource)}${name === '' ? '' : ` ${JSON.stringify(name)}`} is forbidden: ${why}`,
    { ...about(resource, name), ...(causes === undefined ? {} : { causes }) },
  )

export const newTimeout = (message: string, retryAfterSeconds: number, causes?: readonly StatusCause[]): StatusError =>
  failure(504, 'Timeout', `Timeout: ${message}`, {
    ...(causes === undefined ? {} : { causes }),
    ...(retryAfterSeconds > 0 ? { retryAfterSeconds } : {}),
  })

export const newTooManyRequests = (
  message: string,
  retryAfterSeconds: number,
  causes?: readonly StatusCause[],
): StatusError =>
  failure(429, 'TooManyRequests', message, { ...(causes === undefined ? {} : { causes }), retryAfterSeconds })

export const newInternalError = (cause: string): StatusError =>
  failure(500, 'InternalError', `Internal error occurred: ${cause}`, { causes: [{ message: cause }] })

/** A failure that has no reason of its own: an unexpected one that reaches the client with its text. */
export const newUnknown = (message: string): StatusError => failure(500, undefined, message)

/** More than anybody reads: a body of 3 MB can be wrong in a million places, which would make an answer of 400 MB. */
const MAX_CAUSES = 1000
const MAX_CAUSE_CHARACTERS = 1024 * 1024

export function newInvalid({ group, kind }: GroupKind, name: string, errors: readonly FieldError[]): StatusError {
  const causes = causesOf(errors)
  const texts = causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))
  const more = errors.length - causes.length
  if (more > 0) texts.push(`and ${more} more`)
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const what = group === '' ? kind : `${kind}.${group}`
  return failure(422, 'Invalid', `${what} ${JSON.stringify(name)} is invalid${texts.length === 0 ? '' : `: ${list}`}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(kind === '' ? {} : { kind }),
    causes,
  })
}

function causesOf(errors: readonly FieldError[]): StatusCause[] {
  const causes: StatusCause[] = []
  let characters = 0
  for (const error of errors) {
    if (causes.length === MAX_CAUSES || characters > MAX_CAUSE_CHARACTERS) break
    const { type: reason, field } = error
    const message = describeFieldError(error)
    characters += message.length
    causes.push({ reason, message, ...(field === '' ? {} : { field }) })
  }
  return causes
}

/** Another server's refusal, with its words. */
export function newGenericFailure(code: number, resource: GroupResource, name: string, text: string): StatusError {
  const [
    reason = 'Unknown',
    message = `the server responded with the status code ${code} but did not return more information`,
  ] = FOREIGN[code] ?? []
  const what = `${formatGroupResource(resource)} ${name}`
  return failure(code, reason, `${message} (get ${what})`, {
    ...about(resource, name),
    ...(text === '' ? {} : { causes: [{ reason: 'UnexpectedServerResponse', message: text }] }),
  })
}

const FOREIGN: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  403: ['Forbidden', 'the server does not allow access to the requested resource'],
  404: ['NotFound', 'the server could not find the requested resource'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
}

/** What a proxy in front of kube-apiserver would say too: no object is involved, so details are empty. */
const GENERIC: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
}

export function newGenericServerResponse(code: 404 | 405 | 422): StatusError {
  const [reason, message] = GENERIC[code]!
  return failure(code, reason, message, {})
}

/**
 * A path whose resource was served when the request began and is not any more: its definition has gone, or has lost the version.
 * Clients are told what they would have been told a moment later, the words of an unknown path.
 */
export class NotServed extends StatusError {
  constructor() {
    super(newGenericServerResponse(404).status)
  }
}

/** The answer to a path that is unknown: plain text, in every form that a client may ask for. */
export const UNKNOWN_PATH = {
  status: 404,
  contentType: 'text/plain; charset=utf-8',
  headers: ['X-Content-Type-Options', 'nosniff'],
  text: '404 page not found\n',
} as const

const WORDS: Readonly<Record<FieldError['type'], string>> = {
  FieldValueNotFound: 'Not found',
  FieldValueRequired: 'Required value',
  FieldValueDuplicate: 'Duplicate value',
  FieldValueInvalid: 'Invalid value',
  FieldValueNotSupported: 'Unsupported value',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'Too long',
  FieldValueTooMany: 'Too many',
  InternalError: 'Internal error',
  FieldValueTypeInvalid: 'Invalid value',
}

const WITHOUT_VALUE: ReadonlySet<FieldError['type']> = new Set([
  'FieldValueRequired',
  'FieldValueForbidden',
  'FieldValueTooLong',
  'InternalError',
])

/** `Invalid value: "x": must be …`: a field error without its path. */
export function describeFieldError({ type, badValue, detail }: FieldError): string {
  const word = WORDS[type]
  const text = WITHOUT_VALUE.has(type) || badValue === OMITTED ? word : `${word}: ${showValue(badValue)}`
  return detail === '' ? text : `${text}: ${detail}`
}

function showValue(value: unknown): string {
  if (value === undefined) return 'null'
  if (typeof value === 'bigint') return value.toString()
  return (
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? inner.toString() : inner)) ??
    String(value)
  )
}
