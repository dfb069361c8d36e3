/**
 * Thread: pool. What an endpoint does that the generic store does not: its own kind in, its own answer out, over the store
 * of the resource it belongs to. Whatever a handler leaves out, the store does.
 */
import type { KubeObject } from '../../api/object.js'
import type { Selector } from '../../api/selector.js'
import type { Status } from '../../api/status.js'
import type { ListResult } from '../../storage/contract/interface.js'
import type { RegistryStore } from './registry-store.js'
import type { ValidateObject } from './registry-store-options.js'
import type { ResourceRules } from './resource-rules.js'
import type { RequestContext } from './strategy.js'

export interface NamedCreate {
  readonly context: RequestContext
  /** The name of the path, or of the object where the path has none. */
  readonly name: string
  /** The object, decoded, defaulted and admitted. */
  readonly object: KubeObject
  /** The values of the parameter dryRun. */
  readonly dryRun: readonly string[]
  /** Runs validating admission. */
  readonly validate: ValidateObject
}

export interface EndpointHandler {
  /** The defaults and columns of the kind that the endpoint speaks, when it is not the resource's. */
  readonly rules?: Pick<ResourceRules, 'setDefaults' | 'table'>
  /** Further versions whose bodies are taken, because they have the same fields. */
  readonly acceptedVersions?: readonly string[]
  /** Whether uid and resourceVersion in the body of a create are preconditions, and not leftovers. */
  readonly keepsSystemFields?: boolean
  /** Whether the answer to a create shows who set which of its fields. */
  readonly recordsManagers?: boolean
  get?: RegistryStore['get']
  list?(
    context: RequestContext,
    selectors: { readonly label: Selector; readonly field: Selector },
  ): Promise<ListResult<KubeObject>>
  create?(request: NamedCreate): Promise<KubeObject | Status>
  update?: RegistryStore['update']
  delete?: RegistryStore['delete']
}
