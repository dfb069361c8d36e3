/** Thread: any. How an event looks to a watcher, who sees only the objects that its selectors select. */
import type { CacheEvent, RecordView } from '../memory/shared-memory.js'
import { type RecordSelectors, selects, selectsAll } from './record-selectors.js'

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** The type that the event has for a watcher with these selectors; undefined when the watcher sees nothing of it. */
export function visibleType(event: CacheEvent, selectors: RecordSelectors): EventType | undefined {
  if (selectsAll(selectors)) return event.type
  const before = event.previous !== undefined && selects(selectors, event.previous)
  const now = event.type !== 'DELETED' && selects(selectors, event.record)
  if (now) return before ? 'MODIFIED' : 'ADDED'
  return before ? 'DELETED' : undefined
}

/**
 * The record that is shown with the event. An object that only left the selection is shown as it was last seen; that
 * record has an older revision than the event, and whoever passes it on sets the event's.
 */
export const shownRecord = (event: CacheEvent, type: EventType): RecordView =>
  type === 'DELETED' && event.type !== 'DELETED' ? event.previous! : event.record
