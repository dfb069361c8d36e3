/** Thread: any. The query of a list or watch: read as Kubernetes reads it, checked as it checks it. */
import { type FieldError, FieldPath, forbidden, notSupported } from './field-error.js'
import { newBadRequest, newInvalid } from './status.js'

export interface ListOptions {
  readonly labelSelector: string
  readonly fieldSelector: string
  readonly watch: boolean
  readonly allowWatchBookmarks: boolean
  readonly resourceVersion: string
  readonly resourceVersionMatch: string
  readonly timeoutSeconds: number | undefined
  readonly limit: number
  readonly continueToken: string
  readonly sendInitialEvents: boolean | undefined
}

const INTEGER = /^[+-]?\d+$/
const KIND = { group: 'meta.k8s.io', kind: 'ListOptions' }

/** No query is by far the commonest: it costs nothing. */
const NONE: ListOptions = {
  labelSelector: '',
  fieldSelector: '',
  watch: false,
  allowWatchBookmarks: false,
  resourceVersion: '',
  resourceVersionMatch: '',
  timeoutSeconds: undefined,
  limit: 0,
  continueToken: '',
  sendInitialEvents: undefined,
}

/** Anything but 0 and `false`, in letters of any size, is true, also an empty value. */
export const parseBoolean = (value: string | null): boolean =>
  value !== null && value !== '0' && value.toLowerCase() !== 'false'

const MIN_INT64 = -(2n ** 63n)
const MAX_INT64 = 2n ** 63n - 1n

/** A parameter that is there has a number, or the request is a bad one. Throws BadRequest. */
export function parseInteger(value: string | null): number | undefined {
  if (value === null) return undefined
  const problem = INTEGER.test(value) ? rangeProblem(value) : 'invalid syntax'
  if (problem !== undefined) throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: ${problem}`)
  return Number(value)
}

function rangeProblem(value: string): string | undefined {
  if (value.length < 18) return undefined
  const number = BigInt(value.replace('+', ''))
  return number < MIN_INT64 || number > MAX_INT64 ? 'value out of range' : undefined
}

/** Throws BadRequest or Invalid. */
export function parseListOptions(query: URLSearchParams, isWatch: boolean): ListOptions {
  if (query.size === 0) return NONE
  const sendInitialEvents = query.get('sendInitialEvents')
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    watch: isWatch,
    allowWatchBookmarks: parseBoolean(query.get('allowWatchBookmarks')),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds: parseInteger(query.get('timeoutSeconds')),
    limit: Math.max(0, parseInteger(query.get('limit')) ?? 0),
    continueToken: query.get('continue') ?? '',
    sendInitialEvents: sendInitialEvents === null ? undefined : parseBoolean(sendInitialEvents),
  }
  const errors = isWatch ? validateWatch(options) : validateList(options)
  if (errors.length > 0) throw newInvalid(KIND, '', errors)
  return options
}

const MATCH = FieldPath.of('resourceVersionMatch')
const SEND = FieldPath.of('sendInitialEvents')

function validateList({
  resourceVersion,
  resourceVersionMatch,
  continueToken,
  sendInitialEvents,
}: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  if (resourceVersionMatch !== '') {
    if (resourceVersion === '')
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (continueToken !== '')
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'))
    if (resourceVersionMatch !== 'Exact' && resourceVersionMatch !== 'NotOlderThan') {
      errors.push(notSupported(MATCH, resourceVersionMatch, ['Exact', 'NotOlderThan', '']))
    }
    if (resourceVersionMatch === 'Exact' && resourceVersion === '0') {
      errors.push(forbidden(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    }
  }
  if (sendInitialEvents !== undefined) errors.push(forbidden(SEND, 'sendInitialEvents is forbidden for list'))
  return errors
}

/** For a server whose feature gate WatchList is off. Throws Invalid, which clients take as a sign to list instead. */
export function refuseInitialEvents(query: URLSearchParams): void {
  if (!query.has('sendInitialEvents')) return
  const why = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'
  throw newInvalid(KIND, '', [forbidden(SEND, why)])
}

function validateWatch({ resourceVersionMatch, continueToken, sendInitialEvents }: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  if (sendInitialEvents !== undefined && resourceVersionMatch !== 'NotOlderThan') {
    errors.push(forbidden(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (resourceVersionMatch !== '') {
    if (sendInitialEvents === undefined) {
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
    }
    if (resourceVersionMatch !== 'NotOlderThan') {
      errors.push(notSupported(MATCH, resourceVersionMatch, ['NotOlderThan']))
    }
    if (continueToken !== '')
      errors.push(forbidden(MATCH, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  return errors
}
