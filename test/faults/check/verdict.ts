/** All checks over one history. */
import type { History, List, Operation, Violation } from './history.js'
import { checkAddresses, checkLimits, checkStamps, type Limit } from './invariants.js'
import { linearize } from './linearizability.js'
import { checkLists } from './list-checks.js'
import { checkRealTime } from './order-checks.js'
import { Timeline } from './timeline.js'
import { checkWatches } from './watch-checks.js'

export interface CheckOptions {
  readonly limits?: readonly Limit[]
  /** Objects that others write too, such as controllers: their requests are no register's, everything else holds for them. */
  readonly shared?: readonly string[]
  /** Prefixes of what a webhook stamps. */
  readonly stamped?: readonly string[]
}

/** Of one property there are either none or very many: so many of each are told. */
const TOLD = 20

export function check(history: History, { limits = [], shared = [], stamped = [] }: CheckOptions = {}): Violation[] {
  const timeline = new Timeline(history)
  const violations = [
    ...checkRegisters(history, shared),
    ...timeline.violations,
    ...checkRealTime(history),
    ...checkLists(history, timeline),
    ...checkWatches(history, timeline),
    ...checkAddresses(timeline),
    ...checkLimits(timeline, limits),
    ...checkStamps(history, stamped),
  ]
  const counts = new Map<string, number>()
  return violations.filter(({ property }) => {
    const count = (counts.get(property) ?? 0) + 1
    counts.set(property, count)
    return count <= TOLD
  })
}

function checkRegisters(history: History, shared: readonly string[]): Violation[] {
  const violations: Violation[] = []
  for (const [key, operations] of registers(history)) {
    if (shared.some((prefix) => key.startsWith(prefix))) continue
    const search = linearize(operations)
    if (search.verdict === 'no')
      violations.push({
        property: 'linearizable',
        what: `${key}: after ${search.order.slice(-4).map(shown).join(', ') || 'nothing'} there cannot be ${shown(search.stuck)}`,
      })
    else if (search.verdict === 'undecided')
      violations.push({
        property: 'undecided',
        what: `${key}: ${operations.length} operations could not be put in order in time`,
      })
  }
  return violations
}

/**
 * The operations on each object. A list without a resourceVersion is a get of each object below its prefix. An unanswered write whose
 * token somebody saw has happened, and before that moment.
 */
export function registers(history: History): Map<string, Operation[]> {
  const byKey = new Map<string, Operation[]>()
  const firstSeen = sightings(history)
  for (const record of history) {
    if (record.kind !== 'operation') continue
    const seenMs = record.token === undefined ? undefined : firstSeen.get(record.token)
    const isKnown = record.result === 'unknown' && seenMs !== undefined
    const operation = isKnown ? { ...record, result: 'ok' as const, returnedMs: seenMs } : record
    const operations = byKey.get(record.key)
    if (operations === undefined) byKey.set(record.key, [operation])
    else operations.push(operation)
  }
  const lists = history.filter(
    (record): record is List => record.kind === 'list' && record.match === 'fresh' && record.whole,
  )
  for (const [key, operations] of byKey) operations.push(...readsByList(lists, key))
  return byKey
}

function* readsByList(lists: readonly List[], key: string): Iterable<Operation> {
  for (const { prefix, server, calledMs, returnedMs, pages } of lists) {
    if (!key.startsWith(prefix)) continue
    const seen = pages.flatMap(({ items }) => items).find((item) => item.key === key)
    const base = { kind: 'operation', verb: 'get', server, key, calledMs, returnedMs } as const
    yield seen === undefined ? { ...base, result: 'absent' } : { ...base, result: 'ok', seen }
  }
}

/** When each token was first seen. */
function sightings(history: History): Map<string, number> {
  const first = new Map<string, number>()
  const see = (token: string, atMs: number): void => {
    if (atMs < (first.get(token) ?? Infinity)) first.set(token, atMs)
  }
  for (const record of history) {
    if (record.kind === 'operation' && record.seen !== undefined) see(record.seen.token, record.returnedMs ?? Infinity)
    // A page may come long after the first one and still shows what was true then.
    else if (record.kind === 'list')
      for (const { items } of record.pages) for (const { token } of items) see(token, record.returnedMs)
    else if (record.kind === 'watch')
      for (const { seen, atMs } of record.events) if (seen !== undefined) see(seen.token, atMs)
  }
  return first
}

const shown = ({ verb, result, token, expected, revision, seen, server, calledMs, returnedMs }: Operation): string => {
  const given = [token, expected === undefined ? '' : `if ${expected}`].filter((part) => part).join(' ')
  const found = seen === undefined ? (revision ?? '') : `${seen.token} at ${seen.revision}`
  const interval = `${calledMs.toFixed(1)}-${returnedMs?.toFixed(1) ?? ''} ms`
  return `[${verb} ${given} → ${result} ${found}, ${server}, ${interval}]`
}
