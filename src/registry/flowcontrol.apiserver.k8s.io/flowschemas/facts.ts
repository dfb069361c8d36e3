/** Thread: any. Requests are sorted by flow schemas. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const flowSchemaFacts: ResourceFacts = { alwaysCached: true }
