/** Thread: any. The objects of a resource at one revision, read where they lie. */
import { assert } from '../../lib/assert.js'
import type { KeyBuffer } from './key-buffer.js'
import { findRecord, rankOf, sizeOf, visitRecords } from './page-search.js'
import { RecordReader } from './record-reader.js'
import type { SegmentTable } from './segment-table.js'
import type { RecordView, Snapshot } from './shared-memory.js'

export interface SnapshotSource {
  readonly table: SegmentTable
  readonly key: KeyBuffer
  readonly root: number
  readonly revision: number
  release(): void
}

export class SnapshotReader implements Snapshot {
  readonly revision: number
  readonly size: number
  readonly #source: SnapshotSource
  #released = false

  constructor(source: SnapshotSource) {
    this.#source = source
    this.revision = source.revision
    this.size = sizeOf(source.table, source.root)
  }

  get(key: string): RecordView | undefined {
    this.#assertHeld()
    const { table, root } = this.#source
    const record = findRecord(table, root, this.#source.key.set(key))
    return record === 0 ? undefined : new RecordReader(table, record)
  }

  scan(startKey: string, endKey: string, visit: (record: RecordView) => boolean | undefined): void {
    this.#assertHeld()
    const { table, root } = this.#source
    const view = new RecordReader(table)
    visitRecords(table, root, this.#rank(startKey), this.#end(endKey), (record) => visit(view.point(record)))
  }

  count(startKey: string, endKey: string): number {
    this.#assertHeld()
    return Math.max(0, this.#end(endKey) - this.#rank(startKey))
  }

  release(): void {
    assert(!this.#released, 'a snapshot released twice')
    this.#released = true
    this.#source.release()
  }

  #rank(key: string): number {
    const { table, root } = this.#source
    return key === '' ? 0 : rankOf(table, root, this.#source.key.set(key))
  }

  /** How many records lie before the end of a range; '' is the end of all keys. */
  #end(key: string): number {
    return key === '' ? this.size : this.#rank(key)
  }

  #assertHeld(): void {
    assert(!this.#released, 'a snapshot read after its release')
  }
}
