/** Thread: pool. Events, in core and in their own group: one object, with stricter rules where it is written as events.k8s.io. */

import { FieldPath, invalid, required } from '../../../api/field-error.js'
import type { Event } from '../../../api/generated/kinds/core.v1.js'
import type { KubeObject } from '../../../api/object.js'
import { type Errors, immutable, qualifiedName, sameValue } from '../../../api/validation/checks.js'
import { pathSegmentName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { EVENTS_API, eventsV1, toCoreEvent } from './conversion.js'
import { eventTable } from './table.js'

const SHORT = 128
const LONG = 1024
const at = (...names: string[]): FieldPath => FieldPath.of(...names)

function limited(value: string | undefined, field: string, limit: number, needed: boolean): Errors {
  const given = value ?? ''
  if (needed && given === '') return [required(at(field))]
  return Buffer.byteLength(given) > limit ? [invalid(at(field), '', `can have at most ${limit} characters`)] : []
}

function namespaceErrors({ metadata, involvedObject, eventTime }: Event): Errors {
  const [own, other] = [metadata?.namespace ?? '', involvedObject?.namespace ?? '']
  const old = !eventTime
  const fine = old
    ? other === own || (other === '' && (own === '' || own === 'default'))
    : other !== '' || own === 'default' || own === 'kube-system'
  return fine ? [] : [invalid(at('involvedObject', 'namespace'), other, 'does not match event.namespace')]
}

/** Of every event, however it is written. Those without a time are of the old kind: less is asked of them. */
function commonErrors(object: KubeObject, isStrict = false): Errors {
  const event = toCoreEvent(object)
  if (!event.eventTime) return namespaceErrors(event)
  const controller = at(isStrict ? 'reportingController' : 'reportingComponent')
  const { reportingComponent = '' } = event
  return [
    ...namespaceErrors(event),
    ...(reportingComponent === '' ? [required(controller)] : []),
    ...qualifiedName(reportingComponent, controller),
    ...limited(event.reportingInstance, 'reportingInstance', SHORT, true),
    ...limited(event.action, 'action', SHORT, true),
    ...limited(event.reason, 'reason', SHORT, true),
    ...limited(event.message, 'message', LONG, false),
  ]
}

function seriesErrors({ series }: Event): Errors {
  if (!series) return []
  return [
    ...((series.count ?? 0) < 2 ? [invalid(at('series.count'), '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [required(at('series.lastObservedTime'))]),
  ]
}

function strictErrors(object: KubeObject): Errors {
  const event = toCoreEvent(object)
  const unset = (field: string, value: unknown): Errors => (value ? [invalid(at(field), '', 'needs to be unset')] : [])
  const { type = '', source } = event
  return [
    ...seriesErrors(event),
    ...(event.eventTime ? [] : [required(at('eventTime'))]),
    ...(type === 'Normal' || type === 'Warning' ? [] : [invalid(at('type'), '', `has invalid value: ${type}`)]),
    ...unset('firstTimestamp', event.firstTimestamp),
    ...unset('lastTimestamp', event.lastTimestamp),
    ...unset('count', event.count),
    ...unset('source', (source?.component ?? '') !== '' || (source?.host ?? '') !== ''),
  ]
}

/** What does not change; the reason is compared twice, as Kubernetes does. */
const FIXED = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'reason',
  'type',
  'eventTime',
  'action',
  'related',
  'reportingComponent',
  'reportingInstance',
] as const

function changeErrors(object: KubeObject, old: KubeObject): Errors {
  const [now, before] = [toCoreEvent(object), toCoreEvent(old)]
  return [
    ...(sameValue(now.series, before.series) ? [] : seriesErrors(now)),
    ...FIXED.flatMap((field) =>
      immutable(
        now[field] ?? '',
        before[field] ?? '',
        at(field === 'reportingComponent' ? 'reportingController' : field),
      ),
    ),
  ]
}

const shared: ResourceRules<Event> = {
  allowCreateOnUpdate: true,
  expires: 'event-ttl',
  table: eventTable,
}

export const coreEventRules: ResourceRules<Event> = {
  ...shared,
  nameRule: pathSegmentName,
  metadataOnUpdate: 'none',
  validate: (object) => commonErrors(object),
}

export const eventsEventRules: ResourceRules<Event> = {
  ...shared,
  metadataOnUpdate: 'changes',
  conversions: { [EVENTS_API]: eventsV1 },
  validate: (object) => [...commonErrors(object, true), ...strictErrors(object)],
  validateUpdate: (object, old) => [...commonErrors(object, true), ...changeErrors(object, old)],
}
