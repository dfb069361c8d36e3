/**
 * Thread: any. The second verb of the read engine: one page of a state, with the same pages and tokens as the storage's
 * own.
 */
import { encodeContinue } from '../../storage/contract/continue-token.js'
import type { RecordView, Snapshot } from '../memory/shared-memory.js'
import type { KeyRange } from './key-range.js'
import { type RecordSelectors, selects, selectsAll } from './record-selectors.js'

/** Visits the records of a range in order, or those that an index leads to; gives the index's field, or ''. */
export type RangeScan = (range: KeyRange, visit: (record: RecordView) => boolean | undefined) => string

export interface PageOptions {
  readonly snapshot: Snapshot
  /** The keys that are listed: tokens are relative to its start, and there is more while it has more keys. */
  readonly range: KeyRange
  /** The keys that can match, when selectors make them fewer than the range. */
  readonly within?: KeyRange
  /** The key at which a continued list goes on. */
  readonly startKey: string | undefined
  readonly selectors: RecordSelectors
  /** The most items of a page; 0 when there is no limit. */
  readonly limit: number
  /** How records are found; the snapshot's own scan when undefined. */
  readonly scan?: RangeScan
}

export interface Page<R> {
  readonly items: R[]
  /** The token of the next page; '' on the last one. */
  readonly continueToken: string
  /** How many items are left after this page; known only without selectors. */
  readonly remaining: number | undefined
  /** How many records were looked at. */
  readonly fetched: number
  /** The field by which the records were found; '' when all were looked at. */
  readonly index: string
}

/** `take` makes an item of a record. The record is a view that the next one reuses. */
export function scanPage<R>(options: PageOptions, take: (record: RecordView) => R): Page<R> {
  const { snapshot, range, selectors, limit, startKey } = options
  const within = options.within ?? range
  const all = selectsAll(selectors)
  const items: R[] = []
  let fetched = 0
  let lastKey: string | undefined
  const visit = (record: RecordView): boolean | undefined => {
    fetched++
    if (!all && !selects(selectors, record)) return undefined
    items.push(take(record))
    if (items.length !== limit) return undefined
    lastKey = record.key
    return false
  }
  const scanned = { startKey: later(startKey, within.startKey), endKey: within.endKey }
  const index = options.scan === undefined ? plainScan(snapshot, scanned, visit) : options.scan(scanned, visit)
  // There is more when any key follows: whether it matches is found out by the next page, as in Kubernetes.
  const rest = lastKey === undefined ? 0 : snapshot.count(`${lastKey}\0`, range.endKey)
  if (rest === 0) return { items, continueToken: '', remaining: undefined, fetched, index }
  const continueToken = encodeContinue(`${lastKey}\0`, range.startKey, snapshot.revision)
  return { items, continueToken, remaining: all ? rest : undefined, fetched, index }
}

function plainScan(
  snapshot: Snapshot,
  { startKey, endKey }: KeyRange,
  visit: (record: RecordView) => boolean | undefined,
): string {
  snapshot.scan(startKey, endKey, visit)
  return ''
}

const later = (key: string | undefined, other: string): string => (key !== undefined && key > other ? key : other)
