/** Thread: pool. How events are printed: what happened last comes first. */
import type { Event, ObjectReference } from '../../../api/generated/kinds/core.v1.js'
import { humanDuration } from '../../../api/human-duration.js'
import type { TableColumn, TableRules } from '../../generic/resource-rules.js'
import { NAME_COLUMN } from '../../generic/table-columns.js'
import { toCoreEvent } from './conversion.js'

const column = (name: string, description: string, more: Partial<TableColumn> = {}): TableColumn => ({
  type: 'string',
  ...more,
  name,
  description,
})
const wide = { priority: 1 }

const since = (time: string | null | undefined, nowMs: number): string =>
  time ? humanDuration(nowMs - Date.parse(time)) : '<unknown>'

function targetText({ kind = '', name = '' }: ObjectReference): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`
}

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const parts = [source?.component || reportingComponent, source?.host || reportingInstance]
  return parts.filter((part) => (part ?? '') !== '').join(', ')
}

export const eventTable: TableRules<Event> = {
  columns: [
    column('Last Seen', 'The time since it last happened.'),
    column('Type', 'Normal, or Warning.'),
    column('Reason', 'Why it was made, in a word.'),
    column('Object', 'What it is about.'),
    column('Subobject', 'The part of the object that it is about.', wide),
    column('Source', 'Who reported it.', wide),
    column('Message', 'What happened.'),
    column('First Seen', 'The time since it first happened.', wide),
    column('Count', 'How often it happened.', wide),
    { ...NAME_COLUMN, priority: 1 },
  ],
  cells: (object, nowMs) => {
    const event = toCoreEvent(object)
    const { involvedObject = {}, series } = event
    const first = since(event.firstTimestamp || event.eventTime, nowMs)
    const last = series
      ? since(series.lastObservedTime, nowMs)
      : event.lastTimestamp
        ? since(event.lastTimestamp, nowMs)
        : first
    const count = series ? (series.count ?? 0) : event.count || 1
    return [
      last,
      event.type ?? '',
      event.reason ?? '',
      targetText(involvedObject),
      involvedObject.fieldPath ?? '',
      sourceText(event),
      (event.message ?? '').trim(),
      first,
      count,
      event.metadata?.name ?? '',
    ]
  },
}
