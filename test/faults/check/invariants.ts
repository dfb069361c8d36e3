/**
 * What must hold at every revision, whoever wrote: no address is given to two objects, no namespace holds more than its quota, and what a
 * webhook has to stamp has its stamp.
 */
import type { History, Seen, Violation } from './history.js'
import type { Timeline } from './timeline.js'

export interface Limit {
  readonly prefix: string
  readonly most: number
}

/** The timeline must know every deletion: a watch from before the beginning to the end has to be in the history. */
export function checkAddresses(timeline: Timeline): Violation[] {
  const holders = new Map<string, string>()
  const held = new Map<string, string>()
  const violations: Violation[] = []
  for (const { key, type, address, revision } of timeline.changes) {
    const before = held.get(key)
    if (before !== undefined && (type === 'delete' || address !== undefined)) {
      held.delete(key)
      if (holders.get(before) === key) holders.delete(before)
    }
    if (type === 'delete' || address === undefined) continue
    const holder = holders.get(address)
    if (holder !== undefined)
      violations.push({
        property: 'allocation',
        what: `${address} is given to ${key} at ${revision}, and ${holder} has it`,
      })
    holders.set(address, key)
    held.set(key, address)
  }
  return violations
}

export function checkLimits(timeline: Timeline, limits: readonly Limit[]): Violation[] {
  return limits.flatMap(({ prefix, most }) => {
    const alive = new Set<string>()
    const violations: Violation[] = []
    for (const { key, type, revision } of timeline.changes) {
      if (!key.startsWith(prefix)) continue
      if (type === 'delete') alive.delete(key)
      else alive.add(key)
      if (type === 'put' && alive.size > most)
        violations.push({
          property: 'quota',
          what: `${prefix} has ${alive.size} objects at ${revision}, allowed are ${most}`,
        })
    }
    return violations
  })
}

/** Nothing below these prefixes is ever stored without the stamp of the write that left it. */
export function checkStamps(history: History, prefixes: readonly string[]): Violation[] {
  const wrong = new Map<number, Violation>()
  for (const { key, token, stamp, revision } of sightings(history)) {
    if (stamp === token || !prefixes.some((prefix) => key.startsWith(prefix))) continue
    const what = `${key} (${token}) at ${revision} has ${stamp === undefined ? 'no stamp' : `the stamp of ${stamp}`}`
    wrong.set(revision, { property: 'stamp', what })
  }
  return [...wrong.values()]
}

function* sightings(history: History): Iterable<Seen> {
  for (const record of history) {
    if (record.kind === 'operation' && record.seen !== undefined) yield record.seen
    else if (record.kind === 'list') for (const { items } of record.pages) yield* items
    else if (record.kind === 'watch') for (const { seen } of record.events) if (seen !== undefined) yield seen
  }
}
