/**
 * Thread: main, or a front end's own. What becomes of an exception in a callback of uWebSockets.js, a stream or a socket:
 * the end of that one exchange, a line in the log, a number in the metrics. Never the end of the process.
 */
import type { Logger } from '../../lib/logger.js'
import { requestFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { RequestHead } from './request-head.js'

/** Told of each exchange that an exception has ended. */
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
