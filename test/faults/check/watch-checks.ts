/**
 * The properties that etcd's robustness suite holds watches to, each over one stream and the timeline that everybody's observations
 * make: ordered, unique, reliable (nothing left out), of the right types, true to its bookmarks, and resumed where it was asked to.
 * Atomic by revision follows from unique and reliable here, because a revision changes one object.
 */
import type { End, History, Violation, Watch, WatchEvent } from './history.js'
import { type Change, type Timeline, told } from './timeline.js'

export function checkWatches(history: History, timeline: Timeline): Violation[] {
  const ends = history.filter((record): record is End => record.kind === 'end')
  return history.flatMap((record) => (record.kind === 'watch' ? checkWatch(record, timeline, ends) : []))
}

function checkWatch(watch: Watch, timeline: Timeline, ends: readonly End[]): Violation[] {
  const said = `watch of ${watch.prefix} from ${watch.from ?? 'now'} at ${watch.server}`
  const violations: Violation[] = []
  const wrong = (property: string, what: string): void => void violations.push({ property, what: `${said}: ${what}` })
  const { initial, events, start } = parts(watch)
  for (const { seen } of [...initial, ...events])
    if (seen !== undefined && !seen.key.startsWith(watch.prefix)) wrong('scope', `${seen.key} is not below it`)
  checkInitial(watch, initial, start, timeline, wrong)
  const reached = checkOrder(events, start, wrong)
  if (start !== undefined && reached > start) checkReliable(watch, events, [start, reached], timeline, wrong)
  const last = ends.find(({ prefix }) => prefix === watch.prefix)?.revision
  if (last !== undefined && watch.awaited === true && reached < last)
    wrong('alive', `it was to reach ${last} and stands at ${reached}`)
  return violations
}

interface Parts {
  /** The state of one moment, in the order of keys. */
  readonly initial: readonly WatchEvent[]
  /** What came after it, by revision. */
  readonly events: readonly WatchEvent[]
  /** That moment; undefined when the stream does not tell it, or was cut before it did. */
  readonly start: number | undefined
}

function parts({ from, initial, events }: Watch): Parts {
  if (from !== undefined && from !== 0 && !initial) return { initial: [], events, start: from }
  const end = initial ? events.findIndex(({ initialEnd }) => initialEnd === true) : legacyEnd(events)
  if (end < 0) return { initial: events, events: [], start: undefined }
  const [shown, rest] = [events.slice(0, end), events.slice(end)]
  if (initial) return { initial: shown, events: rest, start: rest[0]!.revision }
  // Nothing happened below the prefix between that moment and the first event after it, or it would have been told.
  const [first] = rest
  return { initial: shown, events: rest, start: first!.type === 'BOOKMARK' ? first!.revision : first!.revision - 1 }
}

/** Without the bookmark the initial state ends, at the latest, where keys no longer ascend or something else than ADDED comes. */
function legacyEnd(events: readonly WatchEvent[]): number {
  return events.findIndex(({ type, seen }, i) => type !== 'ADDED' || (i > 0 && seen!.key <= events[i - 1]!.seen!.key))
}

type Wrong = (property: string, what: string) => void

function checkInitial(
  { prefix, from, initial: isAsked }: Watch,
  initial: readonly WatchEvent[],
  start: number | undefined,
  timeline: Timeline,
  wrong: Wrong,
): void {
  if (from !== undefined && from !== 0 && !isAsked) return
  const keys = new Map<string, number>()
  for (const { type, seen, revision } of initial) {
    if (seen === undefined) continue
    if (type !== 'ADDED') wrong('types', `${type} of ${seen.key} among the initial events`)
    if (keys.has(seen.key)) wrong('unique', `${seen.key} comes twice among the initial events`)
    keys.set(seen.key, revision)
    if (start !== undefined && revision > start) wrong('ordered', `${seen.key} at ${revision} comes before ${start}`)
  }
  if (start === undefined) return
  if (start < (from ?? 0)) wrong('resumable', `the initial events are of ${start}`)
  for (const key of timeline.byKey.keys()) {
    if (!key.startsWith(prefix)) continue
    const at = timeline.at(key, start)
    const shown = keys.get(key)
    const isThere = at?.type === 'put'
    if (at !== undefined && (isThere ? shown !== at.revision : shown !== undefined))
      wrong(
        'initial',
        `${key} is shown ${shown ?? 'not at all'}, but at ${start} it is the ${told(at)} of ${at.revision}`,
      )
  }
}

/** Gives the revision up to which the stream claims to have told everything. */
function checkOrder(events: readonly WatchEvent[], start: number | undefined, wrong: Wrong): number {
  let reached = start ?? 0
  let bookmark = 0
  for (const { type, revision, seen } of events) {
    if (type === 'BOOKMARK') {
      if (revision < reached) wrong('bookmarkable', `a bookmark says ${revision} after ${reached} was told`)
      bookmark = Math.max(bookmark, revision)
    } else if (revision === reached && bookmark < reached && start !== reached)
      wrong('unique', `${type} of ${seen!.key} at ${revision} comes again`)
    else if (revision <= bookmark)
      wrong('bookmarkable', `${seen!.key} at ${revision} comes after the bookmark ${bookmark}`)
    else if (revision <= reached) wrong('ordered', `${seen!.key} at ${revision} comes after ${reached}`)
    reached = Math.max(reached, revision)
  }
  return reached
}

/** Everything that happened below the prefix while the stream went on is in it, as what it was. */
function checkReliable(
  { prefix }: Watch,
  events: readonly WatchEvent[],
  [after, upTo]: readonly [number, number],
  timeline: Timeline,
  wrong: Wrong,
): void {
  const told = new Map(events.filter(({ seen }) => seen !== undefined).map((event) => [event.revision, event]))
  for (const change of timeline.between(after, upTo)) {
    if (!change.key.startsWith(prefix)) continue
    const event = told.get(change.revision)
    if (event === undefined) {
      wrong('reliable', `the ${change.type} of ${change.key} at ${change.revision} is left out, ${upTo} was told`)
      continue
    }
    const expected = typeOf(change, timeline)
    if (expected !== undefined && event.type !== expected)
      wrong('types', `${change.key} at ${change.revision} is ${event.type}, not ${expected}`)
  }
}

/** Undefined when what was before is not known: its first known change may not be its first. */
function typeOf(change: Change, timeline: Timeline): WatchEvent['type'] | undefined {
  if (change.type === 'delete') return 'DELETED'
  const before = timeline.at(change.key, change.revision - 1)
  if (before === undefined) return undefined
  return before.type === 'put' ? 'MODIFIED' : 'ADDED'
}
