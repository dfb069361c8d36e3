/**
 * Thread: any. One resource of the watch cache as a reading thread sees it: whoever reads a resource is handed its
 * view. The clock and the fence are those of the storage cluster that holds the resource; `--etcd-servers-overrides`
 * makes several clusters, whose revisions have nothing to do with each other.
 */
import type { Fence } from '../clock/fence.js'
import type { ArenaReader, ClockView } from '../memory/shared-memory.js'

export interface ResourceView {
  readonly clock: ClockView
  readonly fence: Fence
  /**
   * The arena, if it can be read now; undefined while the resource fills, and after it has fallen back to its storage.
   * It is to be asked for at each read, because the resource may be filled anew in another arena.
   */
  arena(): ArenaReader | undefined
  /**
   * The arena, also while it lacks objects that cannot be read. It is for followers (ArenaFollower), never for answers
   * to clients: a list that silently lacks an object is wrong, but access rules that lack one are better than none.
   */
  known(): ArenaReader | undefined
  /** True when the resource is read from its storage for good, and not only until it is filled. */
  fallen(): boolean
}

/** The view of each resource, by the name of its arena. */
export type ResourceViews = (resource: string) => ResourceView
