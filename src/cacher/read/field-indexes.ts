/**
 * Thread: any. Decides which lists find their objects by an index over a field: those by a field that is asked for
 * again and again, as each kubelet asks for the pods of its node. Making an index costs more than one list.
 */
import { FieldIndex } from '../memory/field-index.js'
import type { ArenaReader, RecordView, Snapshot } from '../memory/shared-memory.js'
import type { KeyRange } from './key-range.js'
import type { Trigger } from './trigger.js'

/** So many lists by one field scan all records before an index is made. */
const WORTH_AFTER = 3
/** Among fewer objects than this a scan is as quick as an index. */
const WORTH_OBJECTS = 256

interface Asked {
  times: number
  index: FieldIndex | undefined
}

export class FieldIndexes {
  readonly #arenas = new WeakMap<ArenaReader, Map<string, Asked>>()

  /**
   * Visits the records of the range, in order, that the trigger lets through, or all of them; stops when the visitor
   * returns false. Gives the field by which they were found, '' when they were all looked at.
   */
  scan(
    arena: ArenaReader,
    snapshot: Snapshot,
    trigger: Trigger | undefined,
    range: KeyRange,
    visit: (record: RecordView) => boolean | undefined,
  ): string {
    const index =
      trigger === undefined || range.endKey === `${range.startKey}\0`
        ? undefined
        : this.#index(arena, snapshot, trigger.field)
    if (index?.scan(snapshot, trigger!.value, range, visit) === true) return trigger!.field
    snapshot.scan(range.startKey, range.endKey, visit)
    return ''
  }

  #index(arena: ArenaReader, snapshot: Snapshot, field: string): FieldIndex | undefined {
    if (snapshot.size < WORTH_OBJECTS) return undefined
    let fields = this.#arenas.get(arena)
    if (fields === undefined) {
      fields = new Map()
      this.#arenas.set(arena, fields)
    }
    const asked = fields.get(field) ?? { times: 0, index: undefined }
    fields.set(field, asked)
    if (++asked.times > WORTH_AFTER) asked.index ??= new FieldIndex({ arena, field })
    return asked.index
  }
}
