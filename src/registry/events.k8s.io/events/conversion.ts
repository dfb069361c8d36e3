/** Thread: any. Events of core/v1 and of events.k8s.io/v1 are one object; some fields have two names. */

import type { Event } from '../../../api/generated/kinds/core.v1.js'
import type { Event as EventsEvent } from '../../../api/generated/kinds/events.v1.js'
import type { KubeObject } from '../../../api/object.js'
import type { VersionConversion } from '../../generic/resource-rules.js'

export const EVENTS_API = 'events.k8s.io/v1'
const CORE_API = 'v1'

/** [in core/v1, in events.k8s.io/v1] */
const NAMES = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const

function rename(object: KubeObject, apiVersion: string, from: 0 | 1): KubeObject {
  const result: KubeObject = { ...object, apiVersion }
  for (const pair of NAMES) {
    const value = object[pair[from]]
    delete result[pair[from]]
    if (value !== undefined) result[pair[from === 0 ? 1 : 0]] = value
  }
  return result
}

export const toCoreEvent = (object: KubeObject): Event =>
  object.apiVersion === EVENTS_API ? rename(object, CORE_API, 1) : object

export const toEventsEvent = (object: KubeObject): EventsEvent =>
  object.apiVersion === EVENTS_API ? object : rename(object, EVENTS_API, 0)

export const eventsV1: VersionConversion<Event, EventsEvent> = {
  toMemoryVersion: toCoreEvent,
  fromMemoryVersion: toEventsEvent,
}
