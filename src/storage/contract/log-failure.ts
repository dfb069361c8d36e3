/**
 * Thread: any. A failure of the storage in the log. That a server cannot be reached is nobody's mistake in this process: one line without
 * a stack. When no connection could be had, whoever keeps the connections says so, since when and that it goes on trying; then what
 * waits for it says nothing of its own.
 */
import type { Logger } from '../../lib/logger.js'
import { isStorageError } from './errors.js'

export function logFailure(logger: Logger, error: unknown, fields: object, message: string): void {
  if (!isStorageError(error, 'unreachable')) logger.warn({ ...fields, err: error }, message)
  else if (error.fields.notSent) logger.debug({ ...fields, reason: error.message }, message)
  else logger.warn({ ...fields, reason: error.message }, message)
}
