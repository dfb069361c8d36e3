/**
 * Thread: any. A write whose only change is the time of a manager is none. Called last, with the object as it is to be stored:
 * storage then sees no change and writes nothing.
 */
import type { Json, JsonObject } from '../../../api/object.js'
import { isObject, jsonEqual } from '../patch/json-tree.js'

/** The new object, with the old one's managedFields when only their times differ. */
export function ignoreManagedFieldsTimestamps(old: JsonObject, next: JsonObject): JsonObject {
  const { metadata: oldMetadata, ...oldRest } = old
  const { metadata: nextMetadata, ...nextRest } = next
  if (!isObject(oldMetadata) || !isObject(nextMetadata)) return next
  const { managedFields: oldEntries, ...oldOthers } = oldMetadata
  const { managedFields: nextEntries, ...nextOthers } = nextMetadata
  if (oldEntries === undefined || !sameButTimes(oldEntries, nextEntries)) return next
  if (!jsonEqual(oldOthers, nextOthers) || !jsonEqual(oldRest, nextRest)) return next
  return { ...next, metadata: { ...nextMetadata, managedFields: oldEntries } }
}

function sameButTimes(a: Json, b: Json | undefined): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
  const text = (entries: Json[]): string[] => entries.map((entry) => JSON.stringify(withoutTime(entry))).sort()
  // The times take part in the order of the entries.
  return jsonEqual(text(a), text(b))
}

function withoutTime(entry: Json): Json {
  if (!isObject(entry)) return entry
  const { time: _, ...rest } = entry
  return rest
}
