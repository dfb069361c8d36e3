/** Thread: any. Finding keys in pages; the layout is drawn in memory-layout.ts. */
import type { KeyBuffer } from './key-buffer.js'
import { PAGE_ARRAYS, PAGE_LENGTH, PAGE_LEVEL, PAGE_SIZE, PAGE_SKIP } from './memory-layout.js'
import { RECORD_KEY_BYTES, RECORD_KEY_LENGTH } from './record-layout.js'
import { byteOffset, type SegmentTable, wordOffset } from './segment-table.js'

/**
 * Compares the searched key with that of a record: negative when it comes before, 0 when both are equal. The first
 * `from` bytes are known to be equal.
 */
function compareKey(key: KeyBuffer, table: SegmentTable, record: number, from: number): number {
  const { bytes, words } = table.of(record)
  const start = byteOffset(record) + RECORD_KEY_BYTES
  const length = words[wordOffset(record) + (RECORD_KEY_LENGTH >> 2)]!
  const common = Math.min(length, key.length)
  const wanted = key.bytes
  for (let i = from; i < common; i++) {
    const difference = wanted[i]! - bytes[start + i]!
    if (difference !== 0) return difference
  }
  return key.length - length
}

/** Four bytes of a key from `skip` on, as an integer that compares as they do. */
export function digest(bytes: Uint8Array, start: number, length: number, skip: number): number {
  const at = start + skip
  const left = length - skip
  const value =
    ((left > 0 ? bytes[at]! : 0) << 24) |
    ((left > 1 ? bytes[at + 1]! : 0) << 16) |
    ((left > 2 ? bytes[at + 2]! : 0) << 8) |
    (left > 3 ? bytes[at + 3]! : 0)
  return value ^ -0x80000000
}

/** How the key compares with the bytes that all keys of the page begin with. */
function comparePrefix(key: KeyBuffer, table: SegmentTable, record: number, skip: number): number {
  const bytes = table.of(record).bytes
  const start = byteOffset(record) + RECORD_KEY_BYTES
  const wanted = key.bytes
  const common = Math.min(skip, key.length)
  for (let i = 0; i < common; i++) {
    const difference = wanted[i]! - bytes[start + i]!
    if (difference !== 0) return difference
  }
  return key.length < skip ? -1 : 0
}

function firstAtLeast(words: Int32Array, digests: number, n: number, wanted: number): number {
  let low = 0
  let high = n
  while (low < high) {
    const middle = (low + high) >>> 1
    if (words[digests + middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** The place of the key among the page's records: i when it is there, ~i when it would be inserted at i. */
export function searchPage(table: SegmentTable, page: number, key: KeyBuffer): number {
  const words = table.of(page).words
  const at = wordOffset(page)
  const n = words[at + PAGE_LENGTH]!
  if (n === 0) return ~0
  const digests = at + PAGE_ARRAYS
  const records = digests + n
  const skip = words[at + PAGE_SKIP]!
  const prefix = comparePrefix(key, table, words[records]!, skip)
  if (prefix !== 0) return prefix < 0 ? ~0 : ~n
  const wanted = digest(key.bytes, 0, key.length, skip)
  // The candidates are the records from `low` on that have the same digest.
  let low = firstAtLeast(words, digests, n, wanted)
  let high = low
  while (high < n && words[digests + high] === wanted) high++
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareKey(key, table, words[records + middle]!, skip)
    if (order === 0) return middle
    if (order > 0) low = middle + 1
    else high = middle
  }
  return ~low
}

/**
 * The record of a leaf with this key, or 0. A key that belongs in the page begins as all its keys do; so the common
 * prefix is not compared, which would open one more record.
 */
function findInLeaf(table: SegmentTable, words: Int32Array, at: number, key: KeyBuffer): number {
  const slot = slotInLeaf(table, words, at, key)
  return slot < 0 ? 0 : words[at + PAGE_ARRAYS + words[at + PAGE_LENGTH]! + slot]!
}

/** Where in the leaf the record with this key is, or -1. */
export function slotInLeaf(table: SegmentTable, words: Int32Array, at: number, key: KeyBuffer): number {
  const n = words[at + PAGE_LENGTH]!
  const digests = at + PAGE_ARRAYS
  const wanted = digest(key.bytes, 0, key.length, words[at + PAGE_SKIP]!)
  let low = firstAtLeast(words, digests, n, wanted)
  let high = low
  while (high < n && words[digests + high] === wanted) high++
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = compareKey(key, table, words[digests + n + middle]!, 0)
    if (order === 0) return middle
    if (order > 0) low = middle + 1
    else high = middle
  }
  return -1
}

/** The record with this key, or 0. */
export function findRecord(table: SegmentTable, root: number, key: KeyBuffer): number {
  let page = root
  for (;;) {
    const words = table.of(page).words
    const at = wordOffset(page)
    if (words[at + PAGE_LEVEL] === 0) return findInLeaf(table, words, at, key)
    const n = words[at + PAGE_LENGTH]!
    const found = searchPage(table, page, key)
    const slot = found >= 0 ? found : ~found - 1
    if (slot < 0) return 0
    page = words[at + PAGE_ARRAYS + 2 * n + slot]!
  }
}

/** How many records have keys before this one. */
export function rankOf(table: SegmentTable, root: number, key: KeyBuffer): number {
  let page = root
  let rank = 0
  for (;;) {
    const words = table.of(page).words
    const at = wordOffset(page)
    const n = words[at + PAGE_LENGTH]!
    const found = searchPage(table, page, key)
    if (words[at + PAGE_LEVEL] === 0) return rank + (found >= 0 ? found : ~found)
    const slot = found >= 0 ? found : ~found - 1
    if (slot < 0) return rank
    const sizes = at + PAGE_ARRAYS + 3 * n
    for (let i = 0; i < slot; i++) rank += words[sizes + i]!
    page = words[at + PAGE_ARRAYS + 2 * n + slot]!
  }
}

export function sizeOf(table: SegmentTable, page: number): number {
  return table.of(page).words[wordOffset(page) + PAGE_SIZE]!
}

/** Visits records number `from` to `to` (not included) in order; stops when the visitor returns false. */
export function visitRecords(
  table: SegmentTable,
  page: number,
  from: number,
  to: number,
  visit: (record: number) => boolean | undefined,
): boolean {
  const words = table.of(page).words
  const at = wordOffset(page)
  const n = words[at + PAGE_LENGTH]!
  if (words[at + PAGE_LEVEL] === 0) {
    const records = at + PAGE_ARRAYS + n
    for (let i = from; i < to; i++) if (visit(words[records + i]!) === false) return false
    return true
  }
  const children = at + PAGE_ARRAYS + 2 * n
  let before = 0
  for (let i = 0; i < n && before < to; i++) {
    const size = words[children + n + i]!
    if (before + size > from) {
      const first = Math.max(0, from - before)
      const last = Math.min(size, to - before)
      if (!visitRecords(table, words[children + i]!, first, last, visit)) return false
    }
    before += size
  }
  return true
}

/** Visits every page below and including this one. */
export function visitPages(table: SegmentTable, page: number, visit: (page: number) => void): void {
  const words = table.of(page).words
  const at = wordOffset(page)
  const n = words[at + PAGE_LENGTH]!
  if (words[at + PAGE_LEVEL] !== 0) {
    const children = at + PAGE_ARRAYS + 2 * n
    for (let i = 0; i < n; i++) visitPages(table, words[children + i]!, visit)
  }
  visit(page)
}
