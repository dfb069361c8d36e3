/**
 * Thread: pool. What requests to a resource do beyond its rules, as src/registry/<group>/<resource>/rest.ts states it:
 * Kubernetes' REST storage. Unlike rules it reaches other stores, the authorizer and the world, through RESTDependencies.
 */
import type { KubeObject } from '../../api/object.js'
import type { Connecter } from './connecter.js'
import type { EndpointHandler } from './endpoint-handler.js'
import type { RegistryStore } from './registry-store.js'
import type { RegistryStoreHooks } from './registry-store-options.js'
import type { RESTDependencies } from './rest-dependencies.js'

export interface HandlerParts {
  /** The store of the resource; asking for that of a resource that is never stored is a 405. */
  readonly store: RegistryStore
  /** The version in the path: `apps/v1`. */
  readonly apiVersion: string
  readonly dependencies: RESTDependencies
}

export interface HandlerRow {
  /** The rules that an update of the resource through this endpoint obeys. Default: those of the resource. */
  readonly updates?: 'resource' | 'status'
  make(parts: HandlerParts): EndpointHandler
}

export interface ResourceREST<K extends KubeObject = KubeObject> {
  /** What happens around the writes of the resource; called when its store is made. */
  hooks?(dependencies: RESTDependencies): RegistryStoreHooks<K>
  /** The resource's own endpoint, when it does more than the store. */
  readonly resource?: HandlerRow
  /** The subresources that do more than update a part of the object: scale, eviction. */
  readonly subresources?: Readonly<Record<string, HandlerRow>>
  /** The subresources that another server answers. The front end passes on what `connects` of the facts names. */
  readonly connecters?: Readonly<Record<string, Connecter>>
}
