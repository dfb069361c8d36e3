/** Thread: any. Events have two names, each with its own words for what an event is about. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

const storage = {
  cohabitating: [
    { group: '', resource: 'events' },
    { group: 'events.k8s.io', resource: 'events' },
  ],
}

export const coreEventFacts: ResourceFacts = {
  storage,
  unselectableFields: ['regarding.', 'reportingController'],
}

export const eventsEventFacts: ResourceFacts = {
  storage,
  unselectableFields: ['involvedObject.', 'reportingComponent', 'source'],
}
