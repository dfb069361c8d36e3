/**
 * Thread: pool. What requests to a resource do beyond its rules, as src/registry/<group>/<resource>/rest.ts states it:
 * Kubernetes' REST storage. Unlike rules it reaches other stores, the authorizer and the world, through RESTDependencies.
 */
import type { KubeObject } from '../../api/object.js'
import type { Connecter } from './connecter.js'
import type { EndpointHandler } from './endpoint-handler.js'
import type { RESTDependencies } from './rest-dependencies.js'
import type { Store } from './store.js'
import type { StoreHooks } from './store-options.js'

export interface HandlerParts {
  /** The store of the resource; to ask for that of a resource that is never stored is a 405. */
  readonly store: Store
  /** apps/v1, of the path. */
  readonly apiVersion: string
  readonly dependencies: RESTDependencies
}

export interface HandlerRow {
  /** Which rules an update of the resource through this endpoint obeys. Default: those of the resource. */
  readonly updates?: 'resource' | 'status'
  make(parts: HandlerParts): EndpointHandler
}

export interface ResourceREST<K extends KubeObject = KubeObject> {
  /** What happens around its writes; asked for when its store is made. */
  hooks?(dependencies: RESTDependencies): StoreHooks<K>
  /** The resource's own endpoint, when it does more than the store. */
  readonly resource?: HandlerRow
  /** By subresource, those that do more than update a part of the object: scale, eviction. */
  readonly subresources?: Readonly<Record<string, HandlerRow>>
  /** By subresource, those that another server answers. The front end passes on what `connects` of the facts names. */
  readonly connecters?: Readonly<Record<string, Connecter>>
}
