/**
 * Thread: any. Resources that come, change and go while the server runs, and who may do what with them, as main tells the
 * threads that serve requests. Each thread of the pool has a port of its own for it, over which main sends the changes in order and the thread answers each when it has it. A
 * thread that starts later is given the set as it is, and the changes after that.
 */
import type { GroupResource } from '../api/group-version.js'
import type { ResourceDefinition } from '../api/resource-definition.js'
import type { AccessChange } from './access-change.js'

export type ResourceChange =
  /** New, or in the place of the one before it. */
  | { readonly type: 'set'; readonly definition: ResourceDefinition }
  | { readonly type: 'remove'; readonly groupResource: GroupResource }

/** Everything that threads are told of while they run. */
export type ThreadChange = ResourceChange | AccessChange

export interface ResourceChangeMessage {
  readonly sequence: number
  readonly change: ThreadChange
}

/** The thread has it: requests that it takes up from now on see it. */
export interface ResourceChangeAnswer {
  readonly sequence: number
}
