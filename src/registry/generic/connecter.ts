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

export type ConnectDependencies = Pick<RESTDependencies, 'endpoints' | 'connection' | 'random' | 'mayReach' | 'schemas'>

export interface Connecter {
  /**
   * Whether admission sees a CONNECT with the options as its object, which is the default. 'none': the subresource is a
   * way to read, and reads are not admitted.
   */
  readonly admission?: 'connect' | 'none'
  /** Undefined when there is nothing to show and never will be without a node. Throws a StatusError. */
  connect(request: ConnectRequest, dependencies: ConnectDependencies): Promise<ConnectPlan | undefined>
}
