/** Thread: any. Requests wait and take seats by priority levels. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const priorityLevelConfigurationFacts: ResourceFacts = { alwaysCached: true }
