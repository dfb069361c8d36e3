/**
 * Thread: any. Calls with one reply on whatever server answers. A read is tried on the next server until its
 * deadline. A write is sent again only when it cannot have been sent the first time; else its outcome is unknown, and
 * the caller is told so.
 */
import type { Clock } from '../../lib/clock.js'
import type { CallOptions } from '../contract/kv.js'
import { GrpcError, GrpcStatus } from '../grpc/grpc-error.js'
import type { GrpcChannel } from './channel.js'
import type { Endpoints } from './endpoints.js'
import { isServerTrouble } from './etcd-error.js'

export interface CallerOptions {
  readonly endpoints: Endpoints
  readonly clock: Clock
  readonly timeoutMs: number
}

export interface ReadOptions extends CallOptions {
  readonly maxReplyBytes?: number
}

/**
 * A server that was silent for this long is passed over for a while. Silence within a shorter deadline says more of the
 * caller than of the server.
 */
const SILENCE_MS = 1000

export class Caller {
  readonly #options: CallerOptions

  constructor(options: CallerOptions) {
    this.#options = options
  }

  read(method: string, frame: Buffer, options: ReadOptions = {}): Promise<Buffer> {
    return this.#call(method, frame, options, true)
  }

  write(method: string, frame: Buffer, options: CallOptions = {}): Promise<Buffer> {
    return this.#call(method, frame, options, false)
  }

  async #call(method: string, frame: Buffer, options: ReadOptions, repeatable: boolean): Promise<Buffer> {
    const { endpoints, clock } = this.#options
    const deadlineMs = clock.monotonicMs() + (options.timeoutMs ?? this.#options.timeoutMs)
    for (;;) {
      const channel = await endpoints.acquire(deadlineMs - clock.monotonicMs(), options.signal)
      const remainingMs = deadlineMs - clock.monotonicMs()
      // Half of the time is left to ask another server, where there is one and the question may be asked twice.
      const timeoutMs = repeatable && endpoints.size > 1 ? remainingMs / 2 : remainingMs
      if (timeoutMs <= 0) throw new GrpcError(GrpcStatus.deadlineExceeded, 'no time left', { notSent: true })
      try {
        const reply = await channel.unary(method, frame, {
          timeoutMs,
          signal: options.signal,
          ...(options.maxReplyBytes !== undefined && { maxReplyBytes: options.maxReplyBytes }),
        })
        endpoints.succeeded(channel)
        return reply
      } catch (error) {
        if (!(error instanceof GrpcError)) throw error
        this.#report(channel, error, timeoutMs)
        const mayRepeat = error.notSent || (repeatable && isServerTrouble(error))
        if (!mayRepeat || clock.monotonicMs() >= deadlineMs) throw error
      }
    }
  }

  #report(channel: GrpcChannel, error: GrpcError, timeoutMs: number): void {
    const { endpoints } = this.#options
    if (!isServerTrouble(error)) return
    if (error.status !== GrpcStatus.deadlineExceeded) endpoints.failed(channel, error)
    else if (endpoints.size > 1 && timeoutMs >= SILENCE_MS) endpoints.failed(channel, error)
  }
}
