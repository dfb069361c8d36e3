import { createAndGet } from './behaviours/create-and-get.js'
import { deletion } from './behaviours/delete.js'
import { list } from './behaviours/list.js'
import { update } from './behaviours/update.js'
import type { Behaviour } from './suite.js'

/** All that a storage owes. */
export const everyBehaviour: readonly Behaviour[] = [...createAndGet, ...deletion, ...update, ...list]
