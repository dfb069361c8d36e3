/** Thread: any. Events have two names, each with its own words for what an event is about. */
import type { FieldSpec } from '../../../api/json/field-spec.js'
import type { ResourceFacts } from '../../generic/resource-facts.js'

const storage = {
  cohabitating: [
    { group: '', resource: 'events' },
    { group: 'events.k8s.io', resource: 'events' },
  ],
}

const REFERENCE = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath']
const either = (name: string): string[][] => [
  ['involvedObject', name],
  ['regarding', name],
]

const indexedFields: readonly FieldSpec[] = [
  ...REFERENCE.map((name) => ({ name: `involvedObject.${name}`, paths: either(name) })),
  ...REFERENCE.map((name) => ({ name: `regarding.${name}`, paths: either(name) })),
  { name: 'reason' },
  { name: 'reportingComponent', paths: [['reportingComponent'], ['reportingController']] },
  { name: 'reportingController', paths: [['reportingComponent'], ['reportingController']] },
  {
    name: 'source',
    paths: [
      ['source', 'component'],
      ['deprecatedSource', 'component'],
      ['reportingComponent'],
      ['reportingController'],
    ],
  },
  { name: 'type' },
]

export const coreEventFacts: ResourceFacts = {
  storage,
  indexedFields,
  unselectableFields: ['regarding.', 'reportingController'],
}

export const eventsEventFacts: ResourceFacts = {
  storage,
  indexedFields,
  unselectableFields: ['involvedObject.', 'reportingComponent', 'source'],
}
