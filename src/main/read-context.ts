/** Thread: main. What the reading verbs need: shared memory, the pool for what memory does not hold, time. */
import type { RequestInfo } from '../api/request-info.js'
import type { UserInfo } from '../api/user-info.js'
import type { ArenaReader, ClockView } from '../cacher/shared-memory.js'
import type { Clock } from '../lib/clock.js'
import type { Random } from '../lib/jitter.js'
import type { EncodedResponse, EventConversion } from '../protocol/main-pool.js'
import type { Exchange } from './exchange.js'
import type { ServedResource } from './served-resource.js'

export interface CacheView {
  readonly clock: ClockView
  /** Undefined for resources that are not cached. */
  arena(name: string): ArenaReader | undefined
  /**
   * Everything acknowledged before the call is in memory once this resolves; undefined when it is already. Rejects when
   * that takes too long: then storage itself must be asked.
   */
  fence(): Promise<void> | undefined
}

/** One request that reads, as far as it is understood. */
export interface ReadRequest {
  readonly exchange: Exchange
  readonly info: RequestInfo
  readonly query: URLSearchParams
  readonly resource: ServedResource
  readonly user: UserInfo
}

export interface ReadContext {
  readonly cache: CacheView
  readonly clock: Clock
  readonly random: Random
  /** A watch lasts between this and twice this when the client does not say. */
  readonly minRequestTimeoutSeconds: number
  /** The request as a whole, answered by the pool. */
  readInPool(request: ReadRequest): Promise<EncodedResponse>
  convert(conversion: EventConversion): Promise<Uint8Array[]>
}
