/**
 * Thread: main, or a front end's own. An exception in a callback of an engine, a stream or a socket ends that one
 * exchange, is logged and is counted. It never ends the process.
 */
import type { Logger } from '../../lib/logger.js'
import { requestFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { RequestHead } from './request-head.js'

/** Is told of each exchange that an exception has ended. */
export interface ExchangeFailures {
  failed(error: unknown, head: RequestHead): void
}

export function loggedFailures(logger: Logger, recorder: Recorder): ExchangeFailures {
  const failures = recorder.series(requestFamilies.exchangeFailures)
  return {
    failed: (error, head) => {
      failures.add(1)
      logger.error(
        { err: error, method: head.method, path: head.rawPath, auditId: head.auditId },
        'an exchange failed and was ended',
      )
    },
  }
}
