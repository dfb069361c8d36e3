/** Thread: main. Requests that another server answers: which they are, and who passes them on. */

import type { RemoteService } from '../../aggregator/api-service.js'
import type { RequestInfo } from '../../api/request-info.js'
import type { PoolRequest } from '../../protocol/main-pool.js'
import type { ReadRequest } from '../verbs/read-context.js'
import type { ServedResource } from '../verbs/served-resource.js'

export interface Connector {
  /** Resolves when the answer has begun. */
  connect(request: ReadRequest, input: PoolRequest): Promise<void>
}

/** Passes on requests for groups and versions that another API server serves. */
export interface Relay {
  /** The server that a request is for, when it is not this one. */
  find(info: RequestInfo): RemoteService | undefined
  /** Resolves when the answer has begun. */
  relay(request: Pick<ReadRequest, 'exchange' | 'info' | 'query' | 'user'>, remote: RemoteService): Promise<void>
}

export const isPassedOn = ({ subresource }: RequestInfo, resource: ServedResource | undefined): boolean =>
  subresource !== '' && resource !== undefined && Object.hasOwn(resource.connects, subresource)
