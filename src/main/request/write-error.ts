/** Thread: main. The one place where the error of a request becomes its response. */
import { newInternalError, newRequestEntityTooLarge, newUnauthorized, StatusError } from '../../api/status.js'
import { statusBody } from '../../api/status-body.js'
import { AuthorizationFailed, withoutMarkup } from '../../auth/forbidden.js'
import { InvalidCredentials } from '../../auth/interface.js'
import type { Logger } from '../../lib/logger.js'
import { BodyTooLarge, ClientGone } from '../http/body-reader.js'
import type { Exchange } from '../http/exchange.js'
import { MAX_BODY_BYTES, writePlain, writeStatus } from '../http/write-status.js'
import { TaskCancelled } from '../threads/task-cancelled.js'
import { RequestRefused } from './request-gate.js'

export function writeError(exchange: Exchange, error: unknown, logger: Logger): void {
  if (error instanceof ClientGone || error instanceof TaskCancelled || exchange.aborted) return
  // The answer has begun, and nobody would end it: its client must not wait for the rest, nor take it for whole.
  if (exchange.answered && !exchange.over) {
    exchange.fail(error)
    return
  }
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
