/**
 * Thread: pool. The two ways in which asking a webhook goes wrong: it could not be asked (the failure policy decides what that
 * means), or it said no. Everything else that is thrown is an error of this server.
 */
import { type Status, type StatusDetails, StatusError } from '../../api/status.js'

/** The webhook could not be reached, did not answer in time, or answered what is no answer. */
export class CallingWebhookError extends Error {
  override readonly name = 'CallingWebhookError'
  readonly code = 'calling-webhook'
  /** The HTTP status for metrics: the webhook's own when it answered with a failure, else 503. */
  readonly status: number

  constructor(webhook: string, reason: string, status = 503) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`)
    this.status = status
  }
}

/** The webhook refuses the request. */
export class WebhookRejection extends Error {
  override readonly name = 'WebhookRejection'
  readonly code = 'webhook-rejection'
  readonly answer: StatusError

  constructor(answer: StatusError) {
    super(answer.message)
    this.answer = answer
  }
}

/** The part of a Status that a webhook may fill in. */
export interface GivenStatus {
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly code?: number
  readonly details?: StatusDetails
}

/** What no client takes for success, and every client for a status: a webhook may say any number. */
const LOWEST_CODE = 400
const HIGHEST_CODE = 599
const INTERNAL_ERROR = 500

/** What the client is told when a webhook refuses: the webhook's Status, made a failure where it is none. */
export function rejection(webhook: string, given: GivenStatus = {}): WebhookRejection {
  const { message = '', reason = '', code = 0, details } = given
  const deniedBy = `admission webhook ${JSON.stringify(webhook)} denied the request`
  const why = message === '' ? reason : message
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: why === '' ? `${deniedBy} without explanation` : `${deniedBy}: ${why}`,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code: code > HIGHEST_CODE ? INTERNAL_ERROR : Math.max(code, LOWEST_CODE),
  }
  return new WebhookRejection(new StatusError(status))
}
