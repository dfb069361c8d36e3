/** Thread: main. What an answer says before its body, and how that is written. */
import { STATUS_CODES } from 'node:http'
import type { ResponsePort } from './response-port.js'

export interface ResponseHead {
  readonly status: number
  readonly contentType: string
  /** name, value, … */
  readonly headers?: readonly string[]
}

const statusLines = new Map<number, string>()
function statusLine(status: number): string {
  let line = statusLines.get(status)
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? ''}`
    statusLines.set(status, line)
  }
  return line
}

const oneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replace(/[\r\n]/g, ' ') : text)

function headerLines(headers: readonly string[]): string {
  let lines = ''
  for (let i = 0; i + 1 < headers.length; i += 2) lines += `\r\n${oneLine(headers[i]!)}: ${oneLine(headers[i + 1]!)}`
  return lines
}

/** Of arrays that many answers share: a flow's names. */
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
 * All headers in one call: each costs a crossing into uWebSockets.js, which writes a value as it is. Values come from
 * elsewhere too, so nothing in them may end a line.
 */
export function writeHead(
  port: ResponsePort,
  { status, contentType, headers }: ResponseHead,
  auditId: string,
  extraHeaders: readonly string[],
): void {
  port.writeStatus(statusLine(status))
  // Ours, or one that came in a header: neither can end a line.
  let lines = auditId
  if (headers?.includes('Cache-Control') !== true) lines += '\r\nCache-Control: no-cache, private'
  if (contentType !== '') lines += `\r\nContent-Type: ${contentType}`
  if (headers !== undefined && headers.length > 0) lines += headerLines(headers)
  if (extraHeaders.length > 0) lines += knownLines(extraHeaders)
  port.writeHeader('Audit-Id', lines)
}
