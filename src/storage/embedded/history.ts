/**
 * Thread: owner. Lists ranges, now and at older revisions. An older state is found by walking back from the index: a
 * key that has not changed since then stands as it is; for a key that has changed, or was deleted (the table `graves`
 * says so), the chain of its entries in the log leads back to the version of that time. So the cost follows from what
 * changed within the range, not from the length of the log.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StorageError } from '../contract/errors.js'
import { type KeyValue, type KvListOptions, type KvListResult, prefixEnd } from '../contract/kv.js'
import type { EngineState, LogEntry } from './records.js'
import type { Snapshot } from './snapshot.js'

/** So many keys are looked at before other work of the thread gets its turn: about a millisecond. */
const KEYS_A_TURN = 500

interface KeyRange {
  readonly start: string
  readonly end: string
}

/** The version of a key that was valid at the wanted revision. */
interface Found {
  readonly key: string
  readonly revision: number
}

/** The snapshot must be retained by the caller until this has settled. */
export async function listRange(snapshot: Snapshot, prefix: string, options: KvListOptions): Promise<KvListResult> {
  const { state } = snapshot
  const revision = options.revision ?? 0
  checkRevision(revision, state)
  const range: KeyRange = { start: laterOf(prefix, options.startKey ?? prefix), end: prefixEnd(prefix) }
  const limit = options.limit ?? 0
  const withValues = options.keysOnly !== true
  if (revision === 0 || revision === state.revision) return listNow(snapshot, range, limit, options)
  const found = await findAt(snapshot, range, revision)
  const wanted = limit > 0 ? found.slice(0, limit) : found
  const kvs = await load(snapshot, wanted, withValues)
  return { kvs, count: found.length, more: wanted.length < found.length, revision: state.revision }
}

export function countNow(snapshot: Snapshot, prefix: string): number {
  return countKeys(snapshot, { start: prefix, end: prefixEnd(prefix) })
}

export function checkRevision(revision: number, state: EngineState): void {
  if (revision > state.revision)
    throw new StorageError('too-large', `revision ${revision} is not there yet; the store is at ${state.revision}`, {
      currentRevision: state.revision,
    })
  if (revision > 0 && revision < state.compacted) throw compactedError(revision, state)
}

export function compactedError(revision: number, state: EngineState): StorageError {
  return new StorageError('too-old', `revision ${revision} has been compacted (up to ${state.compacted})`, {
    compactRevision: state.compacted,
  })
}

async function listNow(
  snapshot: Snapshot,
  range: KeyRange,
  limit: number,
  { keysOnly = false, uncounted = false }: KvListOptions,
): Promise<KvListResult> {
  const found: Found[] = []
  // One key more than is wanted tells whether there are more, which counting them all would tell at a higher price.
  const looked = limit > 0 && uncounted ? limit + 1 : limit
  const entries = rangeOf(range)
    ? snapshot.tables.keys.getRange({
        ...range,
        ...(looked > 0 && { limit: looked }),
        transaction: snapshot.transaction,
      })
    : []
  for (const { key, value } of entries) found.push({ key, revision: snapshot.indexEntry(key, value).modRevision })
  const count = !uncounted && limit > 0 && found.length === limit ? countKeys(snapshot, range) : found.length
  const wanted = limit > 0 ? found.slice(0, limit) : found
  const kvs = await load(snapshot, wanted, !keysOnly)
  return { kvs, count, more: kvs.length < count, revision: snapshot.state.revision }
}

function countKeys(snapshot: Snapshot, range: KeyRange): number {
  return rangeOf(range) ? snapshot.tables.keys.getKeysCount({ ...range, transaction: snapshot.transaction }) : 0
}

/** An empty range must not be asked for: lmdb-js walks backwards when the start lies after the end. */
const rangeOf = (range: KeyRange): boolean => compareBytes(range.start, range.end) < 0

async function findAt(snapshot: Snapshot, range: KeyRange, revision: number): Promise<Found[]> {
  if (!rangeOf(range)) return []
  const { keys, graves } = snapshot.tables
  const options = { ...range, transaction: snapshot.transaction }
  const found: Found[] = []
  const changed: { key: string; newest: number }[] = []
  for (const { key, value } of keys.getRange(options)) {
    const { modRevision } = snapshot.indexEntry(key, value)
    if (modRevision <= revision) found.push({ key, revision: modRevision })
    else changed.push({ key, newest: modRevision })
  }
  for (const { key, value } of graves.getRange(options)) {
    const newest = snapshot.graveRevision(key, value)
    if (newest > revision) changed.push({ key, newest })
  }
  if (changed.length === 0) return found
  await inTurns(changed, ({ key, newest }) => {
    const then = walkBack(snapshot, newest, revision)
    if (then > 0) found.push({ key, revision: then })
  })
  return found.sort((a, b) => compareBytes(a.key, b.key))
}

/**
 * The version that was valid at `revision`, or 0 when there was none. An entry that has been pruned was a deletion:
 * what a later entry replaced is there as long as that entry.
 */
function walkBack(snapshot: Snapshot, newest: number, revision: number): number {
  let at = newest
  let entry: LogEntry | undefined = snapshot.recentEntry(at, false)
  while (at > revision && entry !== undefined && entry.previous > 0) {
    at = entry.previous
    entry = snapshot.previousEntry(entry)
  }
  return at <= revision && entry?.type === 'put' ? at : 0
}

async function load(snapshot: Snapshot, found: readonly Found[], withValues: boolean): Promise<KeyValue[]> {
  const kvs: KeyValue[] = []
  await inTurns(found, ({ key, revision }) => kvs.push(snapshot.version(key, revision, withValues)))
  return kvs
}

async function inTurns<T>(items: readonly T[], visit: (item: T) => void): Promise<void> {
  for (let i = 0; i < items.length; i++) {
    if (i > 0 && i % KEYS_A_TURN === 0) await nextTurn()
    visit(items[i]!)
  }
}

const laterOf = (a: string, b: string): string => (compareBytes(a, b) < 0 ? b : a)

/** Compares UTF-8 bytes; JavaScript's own order of strings differs outside the basic plane. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
