/** Thread: main. What the reading verbs need: shared memory, the pool for what memory does not hold, time. */
import type { RequestInfo } from '../../api/request-info.js'
import type { TraceContext } from '../../api/trace-context.js'
import type { UserInfo } from '../../api/user-info.js'
import type { FieldIndexes } from '../../cacher/read/field-indexes.js'
import type { ResourceViews } from '../../cacher/read/resource-view.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Exchange } from '../http/exchange.js'
import type { Caller } from '../threads/caller.js'
import type { Converter } from './converter.js'
import type { ReadMetrics } from './read-metrics.js'
import type { ServedResource } from './served-resource.js'
import type { SharedSelectors } from './shared-selectors.js'
import type { SlowLists } from './slow-lists.js'

/** One request that reads, as far as it is understood. */
export interface ReadRequest extends Caller {
  readonly exchange: Exchange
  readonly info: RequestInfo
  readonly query: URLSearchParams
  readonly resource: ServedResource
  readonly user: UserInfo
  readonly timeoutMs: number
  bodyBytes: number | undefined
  /** The span of the request; undefined when it is not recorded. */
  readonly trace?: TraceContext | undefined
}

export interface ReadContext {
  /** The views of shared memory, by the name of an arena. */
  readonly views: ResourceViews
  readonly clock: Clock
  readonly random: Random
  /** When the client does not say, a watch lasts between this and twice this. */
  readonly minRequestTimeoutSeconds: number
  /** Lets the pool answer the whole request, from memory or from storage. */
  answerFromPool(request: ReadRequest): Promise<void>
  /** The indexes that find objects by the value of a field. */
  readonly indexes: FieldIndexes
  /** Makes and keeps objects in other forms. */
  readonly converter: Converter
  readonly metrics: ReadMetrics
  readonly slowLists: SlowLists
  /** The selectors of watches. */
  readonly selectors: SharedSelectors
}
