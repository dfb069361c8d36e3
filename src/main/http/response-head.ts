/** Thread: main. The head of an answer, and the forms in which engines write it. */
import { STATUS_CODES } from 'node:http'

export interface ResponseHead {
  readonly status: number
  readonly contentType: string
  /** Headers as name, value, name, value, … */
  readonly headers?: readonly string[]
}

export const CACHE_CONTROL = 'no-cache, private'

/** Numbers may come from other servers; one that is no status would break the protocol, or the engine that is to write it. */
export const servable = (head: ResponseHead): ResponseHead =>
  head.status >= 200 && head.status <= 599 ? head : { ...head, status: 500 }

const statusLines = new Map<number, string>()
/** The status with its text, such as "200 OK". */
export function statusLine(status: number): string {
  let line = statusLines.get(status)
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? ''}`
    statusLines.set(status, line)
  }
  return line
}

/**
 * The text on one line. Names and values may come from another server or from an object, and must not end a header's
 * line.
 */
const oneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replace(/[\r\n]/g, ' ') : text)

function headerLines(headers: readonly string[]): string {
  let lines = ''
  for (let i = 0; i + 1 < headers.length; i += 2) lines += `\r\n${oneLine(headers[i]!)}: ${oneLine(headers[i + 1]!)}`
  return lines
}

/**
 * The lines of header arrays that many answers share, such as the flow-control headers of a flow, by the array itself.
 */
const linesOf = new WeakMap<readonly string[], string>()
function knownLines(headers: readonly string[]): string {
  let lines = linesOf.get(headers)
  if (lines === undefined) {
    lines = headerLines(headers)
    linesOf.set(headers, lines)
  }
  return lines
}

/**
 * All headers in one string, as the value of the first header, Audit-Id. uWebSockets.js writes a value as it is, so one
 * call writes them all.
 */
export function headLines(
  { contentType, headers }: ResponseHead,
  auditId: string,
  extraHeaders: readonly string[],
): string {
  // The audit id is a UUID of ours or the value of a request header: neither can hold a line end.
  let lines = auditId
  if (headers?.includes('Cache-Control') !== true) lines += `\r\nCache-Control: ${CACHE_CONTROL}`
  if (contentType !== '') lines += `\r\nContent-Type: ${contentType}`
  if (headers !== undefined && headers.length > 0) lines += headerLines(headers)
  if (extraHeaders.length > 0) lines += knownLines(extraHeaders)
  return lines
}
