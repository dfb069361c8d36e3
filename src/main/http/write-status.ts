/** Thread: main. Writes a Status, or a line of plain text, as a whole response. */
import type { Status } from '../../api/status.js'
import { statusBody } from '../../api/status-body.js'
import type { Exchange } from './exchange.js'

export const MAX_BODY_BYTES = 3 * 1024 * 1024

export function writeStatus(exchange: Exchange, status: Status): void {
  const retryAfter = status.details?.retryAfterSeconds
  const headers = retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)]
  const { contentType, body } = statusBody(status, exchange.head.accept)
  exchange.respond({ status: status.code ?? 500, contentType, headers }, body)
}

export function writePlain(exchange: Exchange, status: number, text: string, headers: readonly string[] = []): void {
  exchange.respond(
    { status, contentType: 'text/plain; charset=utf-8', headers: ['X-Content-Type-Options', 'nosniff', ...headers] },
    `${text}\n`,
  )
}
