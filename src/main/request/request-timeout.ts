/** Thread: main. How long a request may take: what the client asks for, within what the server allows. */
import { DurationError, parseDuration } from '../../api/duration.js'
import { newBadRequest, newTimeout } from '../../api/status.js'

/** Throws BadRequest. The server's own limit holds for 0, for negative values and for those above it. */
export function requestTimeoutMs(asked: string | null, maximumMs: number): number {
  if (asked === null || asked === '') return maximumMs
  try {
    const timeoutMs = Number(parseDuration(asked)) / 1e6
    return timeoutMs > 0 && timeoutMs < maximumMs ? timeoutMs : maximumMs
  } catch (error) {
    if (!(error instanceof DurationError)) throw error
    throw newBadRequest(`invalid timeout specified in the request URL - ${error.message}`)
  }
}

/** The answer to a request that ran into its deadline. */
export const timedOut = newTimeout('request did not complete within the allotted timeout', 0)
