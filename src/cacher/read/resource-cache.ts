/** Thread: any. One resource of the watch cache as a reading thread sees it. */
import type { Fence } from '../clock/fence.js'
import type { ArenaReader, ClockView } from '../memory/shared-memory.js'

export interface ResourceCache {
  readonly clock: ClockView
  readonly fence: Fence
  /** What can be read now; undefined while it fills, and after it has fallen back to its storage. Ask each time. */
  arena(): ArenaReader | undefined
  /** True when it is read from its storage for good, and not only until it is filled. */
  fallen(): boolean
}
