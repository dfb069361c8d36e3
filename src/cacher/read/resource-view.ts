/**
 * Thread: any. One resource of the watch cache as a reading thread sees it: whoever reads a resource is handed its view.
 * The clock and the fence are those of the storage cluster that holds the resource; `--etcd-servers-overrides` makes several
 * clusters, whose revisions have nothing to do with each other.
 */
import type { Fence } from '../clock/fence.js'
import type { ArenaReader, ClockView } from '../memory/shared-memory.js'

export interface ResourceView {
  readonly clock: ClockView
  readonly fence: Fence
  /** What can be read now; undefined while it fills, and after it has fallen back to its storage. Ask each time. */
  arena(): ArenaReader | undefined
  /**
   * As arena(), and also while objects that cannot be read are missing from it. For followers (ArenaFollower), never for
   * what clients are told: a list that silently lacks an object is wrong, rules that lack one are better than none.
   */
  known(): ArenaReader | undefined
  /** True when it is read from its storage for good, and not only until it is filled. */
  fallen(): boolean
}

/** The view of each resource, by the name of its arena. */
export type ResourceViews = (resource: string) => ResourceView
