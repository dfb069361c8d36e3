/** Thread: main. What the reading verbs need: shared memory, the pool for what memory does not hold, time. */
import type { RequestInfo } from '../../api/request-info.js'
import type { UserInfo } from '../../api/user-info.js'
import type { ArenaReader, ClockView } from '../../cacher/memory/shared-memory.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Exchange } from '../http/exchange.js'
import type { Caller } from '../request/caller.js'
import type { Converter } from './converter.js'
import type { FieldIndexes } from './field-indexes.js'
import type { ReadMetrics } from './read-metrics.js'
import type { ServedResource } from './served-resource.js'

export interface CacheView {
  readonly clock: ClockView
  /** Undefined for resources that are not cached. */
  arena(name: string): ArenaReader | undefined
  /** Without an arena: it stays so, and storage is read; else memory is being filled. */
  fallen(name: string): boolean
  /**
   * True: memory holds everything that was acknowledged before the call. False: it could not be brought there in time,
   * so storage itself must be asked.
   */
  fence(): true | Promise<boolean>
}

/** One request that reads, as far as it is understood. */
export interface ReadRequest extends Caller {
  readonly exchange: Exchange
  readonly info: RequestInfo
  readonly query: URLSearchParams
  readonly resource: ServedResource
  readonly user: UserInfo
  readonly timeoutMs: number
  bodyBytes: number | undefined
}

export interface ReadContext {
  readonly cache: CacheView
  readonly clock: Clock
  readonly random: Random
  /** A watch lasts between this and twice this when the client does not say. */
  readonly minRequestTimeoutSeconds: number
  /** The request as a whole, answered by the pool, which reads memory or storage. */
  answerFromPool(request: ReadRequest): Promise<void>
  /** Objects by the value of a field. */
  readonly indexes: FieldIndexes
  /** Objects in other forms. */
  readonly converter: Converter
  readonly metrics: ReadMetrics
}
