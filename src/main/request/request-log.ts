/**
 * Thread: main, or a front end's own. Requests in the log: one line, with its audit id, for each that failed or was slow;
 * all of them at level debug. Nothing is made of those that no line is written for.
 */
import type { Logger } from '../../lib/logger.js'
import type { ObservedRequest, RequestObserver, RequestOutcome } from './request-observer.js'

export interface RequestLogOptions {
  readonly logger: Logger
  /**
   * A request is slow when it took longer than this, time in the queues of flow control not counted; with 0 none is
   * slow.
   */
  readonly slowMs: number
  readonly everything: boolean
}

/** Logged as an error; other statuses from 501 on, as 503 and 504, mean that the server is merely busy or not ready. */
const INTERNAL_ERROR = 500
const HEALTH_PATH = /^\/(?:healthz|livez|readyz)(?:\/|$)/

export class RequestLog implements RequestObserver {
  readonly #logger: Logger
  readonly #slowMs: number
  readonly #everything: boolean

  constructor({ logger, slowMs, everything }: RequestLogOptions) {
    this.#logger = logger
    this.#slowMs = slowMs === 0 ? Number.POSITIVE_INFINITY : slowMs
    this.#everything = everything
  }

  onFinished(request: ObservedRequest, outcome: RequestOutcome): void {
    const { status } = outcome
    if (status >= 500) {
      // Whoever asks for the health of the server acts on the answer: a line of level info is enough.
      if (HEALTH_PATH.test(request.info.path)) this.#logger.info(fieldsOf(request, outcome), 'a health check failed')
      else if (status === INTERNAL_ERROR) this.#logger.error(fieldsOf(request, outcome), 'a request failed')
      else this.#logger.warn(fieldsOf(request, outcome), 'a request failed')
    } else if (outcome.durationMs - request.waitedMs >= this.#slowMs && !request.longRunning)
      this.#logger.warn(fieldsOf(request, outcome), 'a request was slow')
    else if (this.#everything) this.#logger.debug(fieldsOf(request, outcome), 'a request')
  }
}

function fieldsOf(request: ObservedRequest, { status, bytes, durationMs }: RequestOutcome): object {
  const { head, info, user, requestor, waitedMs } = request
  return {
    auditID: head.auditId,
    verb: info.verb,
    method: head.method,
    uri: head.query === '' ? head.rawPath : `${head.rawPath}?${head.query}`,
    user: (requestor ?? user)?.name ?? '',
    userAgent: head.userAgent,
    status,
    bytes,
    durationMs: rounded(durationMs),
    ...(waitedMs > 0 ? { waitedMs: rounded(waitedMs) } : {}),
  }
}

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
