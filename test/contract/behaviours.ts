import { bookmarks } from './behaviours/bookmarks.js'
import { corrupt } from './behaviours/corrupt.js'
import { createAndGet } from './behaviours/create-and-get.js'
import { deletion } from './behaviours/delete.js'
import { keysAndCounts } from './behaviours/keys-and-counts.js'
import { list } from './behaviours/list.js'
import { listPaging } from './behaviours/list-paging.js'
import { randomRun } from './behaviours/random-run.js'
import { update } from './behaviours/update.js'
import { watch } from './behaviours/watch.js'
import { watchInitial } from './behaviours/watch-initial.js'
import type { Behaviour } from './suite.js'

/** All that a storage owes. */
export const everyBehaviour: readonly Behaviour[] = [
  ...createAndGet,
  ...deletion,
  ...update,
  ...list,
  ...listPaging,
  ...keysAndCounts,
  ...watch,
  ...watchInitial,
  ...bookmarks,
  ...corrupt,
  ...randomRun,
]
