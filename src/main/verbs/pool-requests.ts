/**
 * Thread: main. Makes pool tasks of requests: a request that needs an object decoded crosses to a pool thread, once.
 */
import type { Clock } from '../../lib/clock.js'
import type { PoolRequest } from '../../protocol/main-pool.js'
import { respondEncoded } from '../http/respond-encoded.js'
import { MAX_BODY_BYTES } from '../http/write-status.js'
import type { PoolRunner } from '../threads/pool.js'
import type { ReadRequest } from './read-context.js'

export class PoolRequests {
  readonly #pool: PoolRunner
  readonly #clock: Clock

  constructor(pool: PoolRunner, clock: Clock) {
    this.#pool = pool
    this.#clock = clock
  }

  /** Has the pool answer a read that shared memory cannot answer, or not in the form that the client asks for. */
  async read(request: ReadRequest): Promise<void> {
    await respondEncoded(request.exchange, await this.#pool.run('read', this.withoutBody(request), request))
  }

  async write(request: ReadRequest): Promise<void> {
    const body = await request.exchange.readBody(MAX_BODY_BYTES)
    request.bodyBytes = body.byteLength
    const response = await this.#pool.run('write', this.#crossing(request, body), request)
    await respondEncoded(request.exchange, response)
  }

  withoutBody(request: ReadRequest): PoolRequest {
    return this.#crossing(request, new Uint8Array())
  }

  #crossing({ exchange, info, user, timeoutMs, trace }: ReadRequest, body: Uint8Array): PoolRequest {
    const { head } = exchange
    return {
      info,
      method: head.method,
      query: head.query,
      user,
      accept: head.accept,
      contentType: head.contentType,
      userAgent: head.userAgent,
      body,
      auditId: head.auditId,
      ...(trace === undefined ? {} : { trace }),
      deadlineMs: this.#clock.now() + timeoutMs,
    }
  }
}
