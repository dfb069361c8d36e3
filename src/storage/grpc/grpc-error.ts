/** Thread: any. gRPC's status codes, and how calls fail: for the client of etcd and that of key services. */

export const GrpcStatus = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  internal: 13,
  unavailable: 14,
} as const

export interface GrpcErrorOptions {
  /** The request cannot have reached a server, so it is safe to send it again. */
  readonly notSent?: boolean
  readonly cause?: unknown
}

export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly status: number
  readonly notSent: boolean

  constructor(status: number, message: string, options: GrpcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.status = status
    this.notSent = options.notSent ?? false
  }
}

/** The reply was larger than the caller wants to hold: ask for less. */
export class ReplyTooLargeError extends Error {
  override readonly name = 'ReplyTooLargeError'
  readonly bytes: number

  constructor(bytes: number) {
    super(`the reply has ${bytes} bytes`)
    this.bytes = bytes
  }
}

/**
 * The text of a grpc-message. One that is not encoded as gRPC prescribes is given as it came, which says more than a
 * failure to decode it.
 */
export function percentDecoded(message: string): string {
  try {
    return decodeURIComponent(message)
  } catch (error) {
    if (error instanceof URIError) return message
    throw error
  }
}
