/** Thread: pool. The query of log, exec, attach and portforward: read, checked, and written again for the kubelet. */
import { type FieldError, FieldPath, forbidden, invalid } from '../../../api/field-error.js'
import { parseBoolean } from '../../../api/list-options.js'
import { newBadRequest, newInvalid } from '../../../api/status.js'
import { canonicalTime, TimeError } from '../../../api/time.js'

const FLAGS = ['follow', 'previous', 'timestamps'] as const
const STREAMS = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' } as const

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^[+-]?\d+$/.test(text)) throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
}

function time(query: URLSearchParams, name: string): string | undefined {
  const text = query.get(name)
  if (text === null || text === '' || text === 'null') return undefined
  try {
    return canonicalTime(text)
  } catch (error) {
    if (error instanceof TimeError) throw newBadRequest(error.message)
    throw error
  }
}

export interface LogOptions {
  readonly container: string
  readonly skipVerification: boolean
  /** For the kubelet. */
  readonly query: string
}

/** Throws Invalid and BadRequest. */
export function logOptions(query: URLSearchParams, podName: string): LogOptions {
  const tailLines = integer(query, 'tailLines')
  const limitBytes = integer(query, 'limitBytes')
  const sinceSeconds = integer(query, 'sinceSeconds')
  const sinceTime = time(query, 'sinceTime')
  const errors: FieldError[] = []
  if (tailLines !== undefined && tailLines < 0)
    errors.push(invalid(FieldPath.of('tailLines'), tailLines, 'must be greater than or equal to 0'))
  if (limitBytes !== undefined && limitBytes < 1)
    errors.push(invalid(FieldPath.of('limitBytes'), limitBytes, 'must be greater than 0'))
  if (sinceSeconds !== undefined && sinceTime !== undefined)
    errors.push(forbidden(FieldPath.of(), 'at most one of `sinceTime` or `sinceSeconds` may be specified'))
  else if (sinceSeconds !== undefined && sinceSeconds < 1)
    errors.push(invalid(FieldPath.of('sinceSeconds'), sinceSeconds, 'must be greater than 0'))
  if (query.has('stream')) errors.push(forbidden(FieldPath.of('stream'), 'may not be specified'))
  if (errors.length > 0) throw newInvalid({ group: '', kind: 'PodLogOptions' }, podName, errors)
  const out = new URLSearchParams()
  for (const flag of FLAGS) if (parseBoolean(query.get(flag))) out.append(flag, 'true')
  for (const [name, value] of Object.entries({ sinceSeconds, sinceTime, tailLines, limitBytes }))
    if (value !== undefined) out.append(name, String(value))
  return {
    container: query.get('container') ?? '',
    skipVerification: parseBoolean(query.get('insecureSkipTLSVerifyBackend')),
    query: out.toString(),
  }
}

/** Of exec and attach. */
export function streamQuery(query: URLSearchParams, subresource: string): string {
  const out = new URLSearchParams()
  for (const [name, kubeletName] of Object.entries(STREAMS))
    if (parseBoolean(query.get(name))) out.append(kubeletName, '1')
  if (subresource === 'exec') for (const command of query.getAll('command')) out.append('command', command)
  return out.toString()
}

export function portForwardQuery(query: URLSearchParams): string {
  const ports = query
    .getAll('ports')
    .flatMap((text) => text.split(','))
    .filter((text) => text !== '')
  for (const port of ports)
    if (!/^\d+$/.test(port)) throw newBadRequest(`strconv.ParseInt: parsing ${JSON.stringify(port)}: invalid syntax`)
  return ports.length === 0 ? '' : new URLSearchParams({ port: ports.join(',') }).toString()
}
