/** Thread: main. Requests that another server answers: which they are, and who passes them on. */

import type { RequestInfo } from '../../api/request-info.js'
import { lookupTable } from '../../lib/lookup-table.js'
import type { PoolRequest } from '../../protocol/main-pool.js'
import type { ReadRequest } from '../verbs/read-context.js'

export interface Connector {
  /** Resolves when the answer has begun. */
  connect(request: ReadRequest, input: PoolRequest): Promise<void>
}

const PASSED_ON: Readonly<Record<string, ReadonlySet<string>>> = lookupTable({
  pods: new Set(['log', 'exec', 'attach', 'portforward', 'proxy']),
  services: new Set(['proxy']),
  nodes: new Set(['proxy']),
})

export const isPassedOn = ({ apiGroup, resource, subresource }: RequestInfo): boolean =>
  subresource !== '' && apiGroup === '' && PASSED_ON[resource]?.has(subresource) === true
