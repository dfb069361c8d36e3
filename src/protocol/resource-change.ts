/**
 * Thread: any. Resources that come, change and go while the server runs, as main tells the threads of the pool. Each thread
 * has a port of its own for it, over which main sends the changes in order and the thread answers each when it has it. A
 * thread that starts later is given the set as it is, and the changes after that.
 */
import type { GroupResource } from '../api/group-version.js'
import type { ResourceDefinition } from '../api/resource-definition.js'

export type ResourceChange =
  /** New, or in the place of the one before it. */
  | { readonly type: 'set'; readonly definition: ResourceDefinition }
  | { readonly type: 'remove'; readonly groupResource: GroupResource }

export interface ResourceChangeMessage {
  readonly sequence: number
  readonly change: ResourceChange
}

/** The thread has it: requests that it takes up from now on see it. */
export interface ResourceChangeAnswer {
  readonly sequence: number
}
