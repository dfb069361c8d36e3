/** Thread: main. The one place where an error becomes a response. */
import {
  newInternalError,
  newRequestEntityTooLarge,
  newUnauthorized,
  type Status,
  StatusError,
} from '../../api/status.js'
import { statusBody } from '../../api/status-body.js'
import { AuthorizationFailed, withoutMarkup } from '../../auth/forbidden.js'
import { InvalidCredentials } from '../../auth/interface.js'
import type { Logger } from '../../lib/logger.js'
import { RequestRefused } from '../request/request-gate.js'
import { TaskCancelled } from '../threads/task-cancelled.js'
import { BodyTooLarge, ClientGone } from './body-reader.js'
import type { Exchange } from './exchange.js'

export const MAX_BODY_BYTES = 3 * 1024 * 1024

export function writeStatus(exchange: Exchange, status: Status): void {
  const retryAfter = status.details?.retryAfterSeconds
  const headers = retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)]
  const { contentType, body } = statusBody(status, exchange.head.accept)
  exchange.respond({ status: status.code ?? 500, contentType, headers }, body)
}

export function writeError(exchange: Exchange, error: unknown, logger: Logger): void {
  if (error instanceof ClientGone || error instanceof TaskCancelled || exchange.aborted) return
  if (error instanceof BodyTooLarge) {
    const { status } = newRequestEntityTooLarge(`limit is ${MAX_BODY_BYTES}`)
    const { contentType, body } = statusBody(status, exchange.head.accept)
    exchange.respondAndClose({ status: 413, contentType }, body)
    return
  }
  if (error instanceof RequestRefused) {
    writePlain(exchange, 429, error.message, ['Retry-After', String(error.retryAfterSeconds)])
    return
  }
  if (error instanceof StatusError) {
    writeStatus(exchange, error.status)
    return
  }
  if (error instanceof InvalidCredentials) {
    logger.debug({ err: error, path: exchange.head.rawPath, auditId: exchange.head.auditId }, 'credentials refused')
    writeStatus(exchange, newUnauthorized('Unauthorized').status)
    return
  }
  if (error instanceof AuthorizationFailed) {
    const { rawPath, query, auditId } = exchange.head
    logger.error({ err: error, path: rawPath, auditId }, 'authorization failed')
    const uri = JSON.stringify(query === '' ? rawPath : `${rawPath}?${query}`)
    writePlain(exchange, 500, withoutMarkup(`Internal Server Error: ${uri}: ${error.message}`))
    return
  }
  exchange.panicked = true
  logger.error(
    { err: error, method: exchange.head.method, path: exchange.head.rawPath, auditId: exchange.head.auditId },
    'request failed',
  )
  writeStatus(exchange, newInternalError(error instanceof Error ? error.message : String(error)).status)
}

function writePlain(exchange: Exchange, status: number, text: string, headers: readonly string[] = []): void {
  exchange.respond(
    { status, contentType: 'text/plain; charset=utf-8', headers: ['X-Content-Type-Options', 'nosniff', ...headers] },
    `${text}\n`,
  )
}
