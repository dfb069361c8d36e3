/** Thread: any. A list out of a snapshot: the same pages and tokens as the storage's own. */
import { encodeContinue } from '../../storage/contract/continue-token.js'
import type { ListResult, SelectionPredicate } from '../../storage/contract/interface.js'
import { selectsEverything } from '../../storage/contract/selection.js'
import type { RecordView, Snapshot } from '../memory/shared-memory.js'
import type { KeyRange } from './key-range.js'

export interface CacheListOptions<T> {
  readonly snapshot: Snapshot
  readonly range: KeyRange
  /** Where a continued list goes on. */
  readonly startKey: string | undefined
  readonly predicate: SelectionPredicate<T>
  /** 0: no limit. */
  readonly limit: number
  readonly toObject: (record: RecordView) => T
}

export function listFromSnapshot<T>(options: CacheListOptions<T>): ListResult<T> {
  const { snapshot, range, predicate, limit, toObject } = options
  const startKey = options.startKey ?? range.startKey
  const all = selectsEverything(predicate)
  const items: T[] = []
  let examined = 0
  let lastKey = ''
  let full = false
  snapshot.scan(startKey, range.endKey, (record) => {
    // One more key than fits: whether there is more is known without looking at whether it matches.
    if (limit > 0 && items.length >= limit) {
      full = true
      return false
    }
    examined++
    if (all || (predicate.label.matches(record.labels) && predicate.field.matches(record.fields))) {
      items.push(toObject(record))
      lastKey = record.key
    }
    return true
  })
  const { revision } = snapshot
  if (!full) return { items, resourceVersion: revision, continueToken: '', remainingItemCount: undefined }
  return {
    items,
    resourceVersion: revision,
    continueToken: encodeContinue(`${lastKey}\0`, range.startKey, revision),
    remainingItemCount: all ? snapshot.count(startKey, range.endKey) - examined : undefined,
  }
}
