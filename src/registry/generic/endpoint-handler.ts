/**
 * Thread: pool. What an endpoint does that the generic store does not: its own kind in, its own answer out, over the store
 * of the resource it belongs to. Whatever a handler leaves out, the store does.
 */
import type { KubeObject } from '../../api/object.js'
import type { Selector } from '../../api/selector.js'
import type { Status } from '../../api/status.js'
import type { ListResult } from '../../storage/contract/interface.js'
import type { ResourceRules } from './resource-rules.js'
import type { Store } from './store.js'
import type { ValidateObject } from './store-options.js'
import type { RequestContext } from './strategy.js'

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
