/** Thread: any. Pod groups are not in the preferred version of their group. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const podGroupFacts: ResourceFacts = { storage: { version: 'v1alpha2' } }
