/**
 * Thread: pool. What an endpoint does that the generic store does not: its own kind in, its own answer out, over the store
 * of the resource it belongs to. Whatever a handler leaves out, the store does.
 */
import type { KubeObject } from '../../../api/object.js'
import type { RequestInfo } from '../../../api/request-info.js'
import type { Selector } from '../../../api/selector.js'
import type { Status } from '../../../api/status.js'
import type { ResourceRules } from '../../../registry/generic/resource-rules.js'
import type { Store } from '../../../registry/generic/store.js'
import type { ValidateObject } from '../../../registry/generic/store-options.js'
import type { RequestContext } from '../../../registry/generic/strategy.js'
import type { ListResult } from '../../../storage/contract/interface.js'
import type { FieldManager } from '../apply/field-manager.js'

export interface NamedCreate {
  readonly context: RequestContext
  /** Of the path; of the object where the path has none. */
  readonly name: string
  /** Decoded, defaulted, admitted. */
  readonly object: KubeObject
  /** Values of the dryRun parameter. */
  readonly dryRun: readonly string[]
  /** Validating admission. */
  readonly validate: ValidateObject
}

export interface EndpointHandler {
  /** Defaults and columns of the kind that the endpoint speaks, when it is not the resource's. */
  readonly rules?: Pick<ResourceRules, 'setDefaults' | 'table'>
  /** Bodies of these versions are taken too: they have the same fields. */
  readonly acceptedVersions?: readonly string[]
  /** uid and resourceVersion in the body of a create are preconditions, not leftovers. */
  readonly keepsSystemFields?: boolean
  /** The answer to a create shows who set which fields of it. */
  readonly recordsManagers?: boolean
  get?: Store['get']
  list?(
    context: RequestContext,
    selectors: { readonly label: Selector; readonly field: Selector },
  ): Promise<ListResult<KubeObject>>
  create?(request: NamedCreate): Promise<KubeObject | Status>
  update?: Store['update']
  delete?: Store['delete']
}

/** Other endpoints, as far as a handler needs them. */
export interface EndpointSource {
  find(path: Pick<RequestInfo, 'apiGroup' | 'apiVersion' | 'resource' | 'subresource'>): {
    readonly store: Store
    readonly fieldManager: FieldManager
  }
}

export interface HandlerParts {
  /** The parent's; to ask for that of a resource that is never stored is a 405. */
  readonly store: Store
  /** apps/v1, of the path. */
  readonly apiVersion: string
  readonly endpoints: EndpointSource
}

export interface HandlerRow {
  /** Which rules an update of the parent through this endpoint obeys. Default: those of the resource. */
  readonly updates?: 'resource' | 'status'
  make(parts: HandlerParts): EndpointHandler
}

/** By resource and subresource: `deployments.apps/scale`, `bindings`. */
export type HandlerTable = Readonly<Record<string, HandlerRow>>
