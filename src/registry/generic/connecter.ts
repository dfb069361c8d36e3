/** Thread: pool. A subresource that another server answers (log, exec, proxy): this one says where that server is. */
import type { RequestInfo } from '../../api/request-info.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'
import type { RESTDependencies } from './rest-dependencies.js'
import type { RequestContext } from './strategy.js'

export interface ConnectRequest {
  readonly info: Pick<RequestInfo, 'namespace' | 'name'>
  readonly query: URLSearchParams
  readonly context: RequestContext
}

export type ConnectDependencies = Pick<RESTDependencies, 'endpoints' | 'connection' | 'random' | 'mayReach'>

export interface Connecter {
  /** Default: 'connect', with its options as the object. 'none': it is a way to read, and reads are not admitted. */
  readonly admission?: 'connect' | 'none'
  /** Undefined: there is nothing to show, and never will be without a node. Throws a StatusError. */
  connect(request: ConnectRequest, dependencies: ConnectDependencies): Promise<ConnectPlan | undefined>
}
