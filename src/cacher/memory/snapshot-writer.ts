/**
 * Thread: owner. The ordered index of an arena's records, copy on write: each change copies the pages between the
 * root and the record and gives a new root; the old one stays as it was. Keys are looked for first, then the change
 * is made where the search ended.
 */
import { assert } from '../../lib/assert.js'
import type { KeyBuffer } from './key-buffer.js'
import {
  INNER_CAPACITY,
  LEAF_CAPACITY,
  PAGE_ARRAYS,
  PAGE_LENGTH,
  PAGE_LEVEL,
  PAGE_SIZE,
  PAGE_SKIP,
} from './memory-layout.js'
import { digest, searchPage, slotInLeaf } from './page-search.js'
import { RECORD_KEY_BYTES, RECORD_KEY_LENGTH } from './record-layout.js'
import { byteOffset, type Segment, type SegmentTable, wordOffset } from './segment-table.js'

/** One place of a page: a record of a leaf, or a child with the first record below it. */
interface Item {
  readonly record: number
  readonly child: number
  readonly size: number
}

/** A page to be made: the `n` items of `page`, with those of `added` instead of the `removed` ones at `at`. */
interface Splice {
  readonly page: number
  readonly level: number
  readonly n: number
  readonly at: number
  readonly removed: number
  readonly added: readonly Item[]
}

/**
 * A page filled less than UNDERFULL joins a neighbour when together they fill no more than JOINED, which leaves room to
 * grow.
 */
const UNDERFULL = 0.25
const JOINED = 0.75
/** Pages that build() makes are filled to this part, so that the first inserts do not split them all. */
const BUILD_FILL = 0.75

export class SnapshotWriter {
  readonly #table: SegmentTable
  readonly #allocate: (bytes: number) => number
  /** The pages that the change took out of the newest state, and the pages that it made. */
  readonly replaced: number[] = []
  readonly made: number[] = []
  /** The pages between the root and where the last search ended, and the place in each. */
  readonly #pages: number[] = []
  readonly #slots: number[] = []
  #found = 0

  constructor(table: SegmentTable, allocate: (bytes: number) => number) {
    this.#table = table
    this.#allocate = allocate
  }

  /** Forgets the pages that the last change replaced and made; find() and build() begin with it. */
  begin(): void {
    this.replaced.length = 0
    this.made.length = 0
  }

  empty(): number {
    return this.#writePage(0, [])
  }

  /** The record with this key, or 0; put() and remove() work at the place where the search ended. */
  find(root: number, key: KeyBuffer): number {
    this.begin()
    this.#pages.length = 0
    this.#slots.length = 0
    let page = root
    for (;;) {
      const words = this.#table.of(page).words
      const at = wordOffset(page)
      const n = words[at + PAGE_LENGTH]!
      this.#pages.push(page)
      if (words[at + PAGE_LEVEL] === 0) {
        const there = slotInLeaf(this.#table, words, at, key)
        this.#slots.push(there >= 0 ? there : ~searchPage(this.#table, page, key))
        this.#found = there >= 0 ? words[at + PAGE_ARRAYS + n + there]! : 0
        return this.#found
      }
      const found = searchPage(this.#table, page, key)
      const slot = Math.max(0, found >= 0 ? found : ~found - 1)
      this.#slots.push(slot)
      page = words[at + PAGE_ARRAYS + 2 * n + slot]!
    }
  }

  /** Puts the record where find() ended; gives the new root. */
  put(record: number): number {
    return this.#change([{ record, child: 0, size: 1 }], this.#found === 0 ? 0 : 1)
  }

  /** Takes out the record that find() found; gives the new root. */
  remove(): number {
    assert(this.#found !== 0, 'only what was found can be removed')
    return this.#change([], 1)
  }

  /** Makes a whole index of records in ascending order of their keys. */
  build(records: readonly number[]): number {
    this.begin()
    let items: Item[] = records.map((record) => ({ record, child: 0, size: 1 }))
    for (let level = 0; ; level++) {
      const capacity = level === 0 ? LEAF_CAPACITY : INNER_CAPACITY
      if (items.length <= capacity) return this.#writePage(level, items)
      const pages = Math.ceil(items.length / (capacity * BUILD_FILL))
      const next: Item[] = []
      for (let i = 0; i < pages; i++) {
        const part = items.slice(Math.floor((i * items.length) / pages), Math.floor(((i + 1) * items.length) / pages))
        next.push(this.#item(this.#writePage(level, part)))
      }
      items = next
    }
  }

  #change(items: readonly Item[], removedItems: number): number {
    let added = items
    let removed = removedItems
    for (let depth = this.#pages.length - 1; depth >= 0; depth--) {
      const page = this.#pages[depth]!
      let at = this.#slots[depth]!
      const { level, n } = this.#head(page)
      if (added.length === 1 && level > 0) {
        // After a removal the child may be small enough to join a neighbour.
        const joined = this.#join(page, at, added[0]!)
        if (joined !== undefined) {
          at = joined.at
          removed = 2
          added = [joined.item]
        }
      }
      added = this.#splice({ page, level, n, at, removed, added })
      removed = 1
      this.replaced.push(page)
    }
    return this.#root(added)
  }

  #root(items: readonly Item[]): number {
    if (items.length === 0) return this.empty()
    if (items.length > 1) return this.#writePage(this.#head(items[0]!.child).level + 1, items)
    // A root with a single child is replaced by the child.
    let root = items[0]!.child
    for (;;) {
      const { level, n } = this.#head(root)
      if (level === 0 || n > 1) return root
      const words = this.#table.of(root).words
      const child = words[wordOffset(root) + PAGE_ARRAYS + 2 * n]!
      this.replaced.push(root)
      root = child
    }
  }

  #join(parent: number, slot: number, child: Item): { at: number; item: Item } | undefined {
    const { level, n } = this.#head(child.child)
    const capacity = level === 0 ? LEAF_CAPACITY : INNER_CAPACITY
    if (n > capacity * UNDERFULL) return undefined
    const siblings = this.#head(parent).n
    if (siblings < 2) return undefined
    const at = slot > 0 ? slot - 1 : slot
    const words = this.#table.of(parent).words
    const sibling = words[wordOffset(parent) + PAGE_ARRAYS + 2 * siblings + (slot > 0 ? slot - 1 : slot + 1)]!
    if (n + this.#head(sibling).n > capacity * JOINED) return undefined
    const [left, right] = slot > 0 ? [sibling, child.child] : [child.child, sibling]
    const items = [...this.#items(left), ...this.#items(right)]
    this.replaced.push(child.child, sibling)
    return { at, item: this.#item(this.#writePage(level, items)) }
  }

  #splice(splice: Splice): Item[] {
    const { level, n, at, removed, added } = splice
    const capacity = level === 0 ? LEAF_CAPACITY : INNER_CAPACITY
    const total = n - removed + added.length
    if (total === 0) return []
    if (total <= capacity && ((level === 0 && removed === 1 && added.length === 1) || this.#keepsPrefix(splice)))
      return [this.#item(this.#copyPage(splice))]
    const items = this.#items(splice.page)
    items.splice(at, removed, ...added)
    if (total <= capacity) return [this.#item(this.#writePage(level, items))]
    // Inserts at the end (names with a time in them) leave full pages behind them instead of half full ones.
    const half = at === n ? total - (capacity >> 3) : total >> 1
    return [
      this.#item(this.#writePage(level, items.slice(0, half))),
      this.#item(this.#writePage(level, items.slice(half))),
    ]
  }

  /** Whether the digests of the page stay valid, because all new keys have the page's common prefix. */
  #keepsPrefix({ page, added, n }: Splice): boolean {
    if (n === 0) return false
    const words = this.#table.of(page).words
    const at = wordOffset(page)
    const skip = words[at + PAGE_SKIP]!
    const first = words[at + PAGE_ARRAYS + n]!
    for (const item of added) if (this.#commonPrefix(first, item.record, skip) < skip) return false
    return true
  }

  /** Makes the page when digests stay valid: three runs of words are copied. */
  #copyPage({ page, level, n, at, removed, added }: Splice): number {
    const source = this.#table.of(page).words
    const from = wordOffset(page)
    const skip = source[from + PAGE_SKIP]!
    const total = n - removed + added.length
    const made = this.#newPage(level, total, skip)
    const target = this.#table.of(made).words
    const to = wordOffset(made)
    const arrays = level === 0 ? 2 : 4
    const behind = n - at - removed
    for (let a = 0; a < arrays; a++) {
      const s = from + PAGE_ARRAYS + a * n
      const d = to + PAGE_ARRAYS + a * total
      for (let i = 0; i < at; i++) target[d + i] = source[s + i]!
      const sBehind = s + at + removed
      const dBehind = d + at + added.length
      for (let i = 0; i < behind; i++) target[dBehind + i] = source[sBehind + i]!
    }
    let size = source[from + PAGE_SIZE]!
    for (let i = at; i < at + removed; i++) size -= level === 0 ? 1 : source[from + PAGE_ARRAYS + 3 * n + i]!
    for (let i = 0; i < added.length; i++) {
      this.#setItem(target, to, total, level, at + i, added[i]!, skip)
      size += added[i]!.size
    }
    target[to + PAGE_SIZE] = size
    return made
  }

  #writePage(level: number, items: readonly Item[]): number {
    const n = items.length
    const skip = n === 0 ? 0 : this.#commonPrefix(items[0]!.record, items[n - 1]!.record, Number.MAX_SAFE_INTEGER)
    const page = this.#newPage(level, n, skip)
    const words = this.#table.of(page).words
    const at = wordOffset(page)
    let size = 0
    for (let i = 0; i < n; i++) {
      this.#setItem(words, at, n, level, i, items[i]!, skip)
      size += items[i]!.size
    }
    words[at + PAGE_SIZE] = size
    return page
  }

  #newPage(level: number, n: number, skip: number): number {
    const page = this.#allocate((PAGE_ARRAYS + n * (level === 0 ? 2 : 4)) << 2)
    this.made.push(page)
    const words = this.#table.of(page).words
    const at = wordOffset(page)
    words[at + PAGE_LEVEL] = level
    words[at + PAGE_LENGTH] = n
    words[at + PAGE_SKIP] = skip
    return page
  }

  #setItem(words: Int32Array, page: number, n: number, level: number, i: number, item: Item, skip: number): void {
    const at = page + PAGE_ARRAYS + i
    const segment = this.#table.of(item.record)
    words[at] = digest(segment.bytes, keyStart(item.record), keyLength(segment, item.record), skip)
    words[at + n] = item.record
    if (level === 0) return
    words[at + 2 * n] = item.child
    words[at + 3 * n] = item.size
  }

  #head(page: number): { level: number; n: number } {
    const words = this.#table.of(page).words
    const at = wordOffset(page)
    return { level: words[at + PAGE_LEVEL]!, n: words[at + PAGE_LENGTH]! }
  }

  /** The page as the item of its parent. */
  #item(page: number): Item {
    const words = this.#table.of(page).words
    const at = wordOffset(page)
    return { record: words[at + PAGE_ARRAYS + words[at + PAGE_LENGTH]!]!, child: page, size: words[at + PAGE_SIZE]! }
  }

  #items(page: number): Item[] {
    const words = this.#table.of(page).words
    const at = wordOffset(page)
    const n = words[at + PAGE_LENGTH]!
    const records = at + PAGE_ARRAYS + n
    const leaf = words[at + PAGE_LEVEL] === 0
    const items: Item[] = []
    for (let i = 0; i < n; i++) {
      const record = words[records + i]!
      if (leaf) items.push({ record, child: 0, size: 1 })
      else items.push({ record, child: words[records + n + i]!, size: words[records + 2 * n + i]! })
    }
    return items
  }

  #commonPrefix(a: number, b: number, atMost: number): number {
    const left = this.#table.of(a)
    const right = this.#table.of(b)
    const length = Math.min(atMost, keyLength(left, a), keyLength(right, b))
    const leftStart = keyStart(a)
    const rightStart = keyStart(b)
    let i = 0
    while (i < length && left.bytes[leftStart + i] === right.bytes[rightStart + i]) i++
    return i
  }
}

function keyStart(record: number): number {
  return byteOffset(record) + RECORD_KEY_BYTES
}

function keyLength(segment: Segment, record: number): number {
  return segment.words[wordOffset(record) + (RECORD_KEY_LENGTH >> 2)]!
}
