/**
 * Thread: main, or a front end's own. How many clients a listener takes at a time. One more is closed before it is spoken to, so
 * that a process that many connect to keeps descriptors for its own work, and for the clients that it has.
 */
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import { requestFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'

/** Time between two lines of the log: whoever is refused tries again, many times a second. */
const INTERVAL_MS = 60_000

export interface ConnectionLimit {
  readonly most: number
  /** Told of each connection that was not taken, and why. */
  readonly refused: (why: string) => void
}

/** Takes everybody. */
export const NO_LIMIT: ConnectionLimit = { most: Number.POSITIVE_INFINITY, refused: () => undefined }

export interface ConnectionLimitOptions {
  readonly most: number
  readonly clock: Clock
  readonly logger: Logger
  readonly recorder: Recorder
}

/** Counts refused connections, and tells of them once a minute. */
export function connectionLimit({ most, clock, logger, recorder }: ConnectionLimitOptions): ConnectionLimit {
  const counted = recorder.series(requestFamilies.refusedConnections)
  let toldMs = Number.NEGATIVE_INFINITY
  let silent = 0
  return {
    most,
    refused: (why) => {
      counted.add(1)
      const nowMs = clock.monotonicMs()
      if (nowMs - toldMs < INTERVAL_MS) {
        silent++
        return
      }
      toldMs = nowMs
      logger.warn({ most, why, refusedBefore: silent }, 'connections of clients are refused: there are too many')
      silent = 0
    },
  }
}
