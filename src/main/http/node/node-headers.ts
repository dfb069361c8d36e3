/** Thread: main, or a front end's own. The headers of an answer in the forms in which Node's modules take them. */
import type { OutgoingHttpHeaders } from 'node:http2'
import { CACHE_CONTROL, type ResponseHead } from '../response-head.js'

/** Headers about the connection or the length of the body, which only the engine itself may set. */
const ENGINE_OWN: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
])

/** Headers that node:http2 refuses to send twice. Another server's answer may repeat them: then the first counts. */
const SINGLE: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-max-age',
  'access-control-request-method',
  'age',
  'authorization',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'dnt',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'tk',
  'upgrade-insecure-requests',
  'user-agent',
  'x-content-type-options',
])

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these must not reach a header
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/g

/**
 * The value as Node has to be given it. Node writes each character as one byte and refuses others, so the value's UTF-8
 * bytes are passed as characters: the wire then has UTF-8, as with uWebSockets.js. Control characters become spaces, so
 * that no value can end its line.
 */
function wireValue(text: string): string {
  if (/^[\t\x20-\x7e]*$/.test(text)) return text
  return Buffer.from(text).toString('latin1').replace(CONTROL, ' ')
}

/**
 * Whether the text can be a header's name. Names may come from another server's answer; those that cannot are left out.
 */
const isName = (name: string): boolean => /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/.test(name)

/** The headers as name, value, name, value, …, without the one that states the body's length: the port adds that. */
export function flatHeaders(head: ResponseHead, auditId: string, extraHeaders: readonly string[]): string[] {
  const { contentType, headers } = head
  const flat = ['Audit-Id', wireValue(auditId)]
  if (headers?.includes('Cache-Control') !== true) flat.push('Cache-Control', CACHE_CONTROL)
  if (contentType !== '') flat.push('Content-Type', wireValue(contentType))
  if (headers !== undefined) append(flat, headers)
  append(flat, extraHeaders)
  return flat
}

function append(flat: string[], headers: readonly string[]): void {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]!
    if (isName(name) && !ENGINE_OWN.has(name.toLowerCase())) flat.push(name, wireValue(headers[i + 1]!))
  }
}

/** The headers as node:http2 takes them: names in lower case, the values of a repeated name as a list. */
export function headersObject(status: number, flat: readonly string[]): OutgoingHttpHeaders {
  const object = Object.create(null) as OutgoingHttpHeaders
  object[':status'] = status
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase()
    const before = object[name]
    const value = flat[i + 1]!
    if (before === undefined) object[name] = value
    else if (!SINGLE.has(name)) object[name] = Array.isArray(before) ? [...before, value] : [String(before), value]
  }
  return object
}
