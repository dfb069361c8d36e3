/** Thread: main. What exchanges are given by others: the services of their listener, and who looks on. */
import type { BulkTurns } from './bulk-turns.js'
import type { ExchangeFailures } from './exchange-failures.js'
import type { ResponseHead } from './response-head.js'
import type { SlowAnswers } from './slow-answers.js'

/**
 * Sees what goes through an exchange, for the audit log. The bytes stay their owner's: a tap copies what it wants to
 * keep before the call returns.
 */
export interface ExchangeTap {
  readonly requestBody?: (bytes: Uint8Array) => void
  /** `streams` is true for an answer without known end, whose pieces are not shown to the tap. */
  readonly responseHead?: (head: ResponseHead, streams: boolean) => void
  readonly responsePiece?: (bytes: Uint8Array | string) => void
  /** Annotations that the pool made for the audit log. Called before responseHead. */
  readonly annotations?: (annotations: Readonly<Record<string, string>>) => void
}

/** What the exchanges of a listener share. */
export interface ExchangeServices {
  /** Shares the thread among large answers. Without it a large answer is written as fast as its client takes it. */
  readonly turns?: BulkTurns
  readonly failures?: ExchangeFailures
  readonly slowAnswers?: SlowAnswers
  /** The headers of every answer: name, value, … */
  readonly headers?: readonly string[]
  /** False when nothing is compressed, whatever clients ask for. */
  readonly compresses?: boolean
}
