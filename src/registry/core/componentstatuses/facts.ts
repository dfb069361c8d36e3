/** Thread: any. Component statuses are on their way out. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const componentStatusFacts: ResourceFacts = {
  deprecation: { v1: 'v1 ComponentStatus is deprecated in v1.19+' },
}
