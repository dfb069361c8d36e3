/** Thread: any. Jobs are selected by how many of their pods succeeded. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const jobFacts: ResourceFacts = {
  indexedFields: [{ name: 'status.successful', paths: [['status', 'succeeded']], default: '0' }],
}
