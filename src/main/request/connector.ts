/** Thread: main. Requests that another server answers: which they are, and who passes them on. */

import type { RequestInfo } from '../../api/request-info.js'
import type { PoolRequest } from '../../protocol/main-pool.js'
import type { ReadRequest } from '../verbs/read-context.js'
import type { ServedResource } from '../verbs/served-resource.js'

export interface Connector {
  /** Resolves when the answer has begun. */
  connect(request: ReadRequest, input: PoolRequest): Promise<void>
}

export const isPassedOn = ({ subresource }: RequestInfo, resource: ServedResource | undefined): boolean =>
  subresource !== '' && resource !== undefined && Object.hasOwn(resource.connects, subresource)
