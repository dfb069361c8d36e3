/** Thread: pool. What requests to pods do beyond their rules. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { podBindingRow } from './binding.js'
import { evictionRow } from './eviction.js'

export const podREST: ResourceREST = { subresources: { binding: podBindingRow, eviction: evictionRow } }
