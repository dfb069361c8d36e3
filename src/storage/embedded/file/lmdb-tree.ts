/**
 * Thread: owner. Walks the trees of an LmdbFile in the order of their keys. A damaged page is told and left out with all
 * below it; the walk goes on, so that everything damaged is found, and everything sound can be saved.
 */
import { LmdbDamage, type LmdbFile, type LmdbTable, PAGE_HEADER_BYTES } from './lmdb-file.js'

/** Flags of a node. */
const BIG_VALUE = 0x01
const NODE_HEADER_BYTES = 8
/** Deeper than any tree that fits into 64 bits of pages. */
const MAX_DEPTH = 40

export interface LmdbEntry {
  /** Both are valid until the next entry is asked for. */
  readonly key: Buffer
  readonly value: Buffer
}

export interface WalkOptions {
  readonly file: LmdbFile
  /** Told of what is wrong, in words that follow the name of the file. */
  readonly onDamage: (problem: string) => void
}

export class LmdbTrees {
  readonly #file: LmdbFile
  readonly #onDamage: (problem: string) => void
  /** A bit a page that some tree has used. */
  readonly #used: Uint8Array

  constructor(options: WalkOptions) {
    this.#file = options.file
    this.#onDamage = options.onDamage
    this.#used = new Uint8Array(Math.ceil(options.file.pages / 8))
  }

  /** The entries of a table. `ordered`: keys are compared by their bytes, as in all tables but that of free pages. */
  *entries(table: LmdbTable, ordered = true): Generator<LmdbEntry> {
    if (table.root === undefined) return
    const seen = { entries: 0, damaged: false, last: ordered ? Buffer.alloc(0) : undefined }
    yield* this.#page(table.root, 1, table.depth, seen)
    // After damage the number follows from it.
    if (!seen.damaged && seen.entries !== table.entries)
      this.#onDamage(`has ${seen.entries} entries in a table that should have ${table.entries}`)
  }

  *#page(number: number, level: number, depth: number, seen: Seen): Generator<LmdbEntry> {
    const page = Buffer.allocUnsafe(this.#file.meta.pageBytes)
    let nodes: Buffer[]
    let kind: 'branch' | 'leaf'
    try {
      kind = this.#file.readTreePage(number, page)
      if (level > MAX_DEPTH || (kind === 'leaf') !== (level === depth))
        throw new LmdbDamage(`page ${number} is a ${kind} at level ${level} of ${depth}`)
      this.#use(number, 1)
      nodes = nodesOf(number, page, kind)
    } catch (error) {
      this.#damaged(error, seen)
      return
    }
    if (kind === 'branch') for (const node of nodes) yield* this.#page(node.readUIntLE(0, 6), level + 1, depth, seen)
    else yield* this.#leaf(number, nodes, seen)
  }

  *#leaf(number: number, nodes: readonly Buffer[], seen: Seen): Generator<LmdbEntry> {
    for (const node of nodes) {
      let entry: LmdbEntry
      try {
        const keyBytes = node.readUInt16LE(6)
        const key = node.subarray(NODE_HEADER_BYTES, NODE_HEADER_BYTES + keyBytes)
        if (seen.last !== undefined && seen.entries > 0 && Buffer.compare(seen.last, key) >= 0)
          throw new LmdbDamage(`page ${number} has keys out of order`)
        entry = { key, value: this.#value(node, NODE_HEADER_BYTES + keyBytes) }
      } catch (error) {
        this.#damaged(error, seen)
        continue
      }
      seen.entries++
      if (seen.last !== undefined) seen.last = entry.key
      yield entry
    }
  }

  #value(node: Buffer, start: number): Buffer {
    const bytes = node.readUInt32LE(0)
    if ((node.readUInt16LE(4) & BIG_VALUE) === 0) return node.subarray(start, start + bytes)
    const number = Number(node.readBigUInt64LE(start))
    const value = this.#file.readBigValue(number, bytes)
    this.#use(number, this.#file.pagesOf(bytes))
    return value
  }

  /** Two references to one page would be one written over by the other. */
  #use(number: number, count: number): void {
    for (let page = number; page < number + count; page++) {
      const [byte, bit] = [page >> 3, 1 << (page & 7)]
      if (this.#used[byte]! & bit) throw new LmdbDamage(`page ${page} is used twice`)
      this.#used[byte]! |= bit
    }
  }

  #damaged(error: unknown, seen: Seen): void {
    if (!(error instanceof LmdbDamage)) throw error
    seen.damaged = true
    this.#onDamage(error.message)
  }
}

interface Seen {
  entries: number
  damaged: boolean
  last: Buffer | undefined
}

/** 0 u32 value size · 4 u16 flags · 6 u16 key size · 8 key · value, or where it is; in branches 0 is the child, 6 bytes. */
function nodesOf(number: number, page: Buffer, kind: 'branch' | 'leaf'): Buffer[] {
  const end = page.length
  const upper = PAGE_HEADER_BYTES + page.readUInt16LE(22)
  const count = page.readUInt16LE(20) >> 1
  const nodes: Buffer[] = []
  for (let i = 0; i < count; i++) {
    const start = PAGE_HEADER_BYTES + page.readUInt16LE(PAGE_HEADER_BYTES + 2 * i)
    if (start < upper || start + NODE_HEADER_BYTES > end) throw outside(number)
    const valueStart = start + NODE_HEADER_BYTES + page.readUInt16LE(start + 6)
    const isBig = kind === 'leaf' && (page.readUInt16LE(start + 4) & BIG_VALUE) !== 0
    const valueBytes = kind === 'branch' ? 0 : isBig ? 8 : page.readUInt32LE(start)
    if (valueStart + valueBytes > end) throw outside(number)
    nodes.push(page.subarray(start, valueStart + valueBytes))
  }
  return nodes
}

const outside = (number: number): LmdbDamage => new LmdbDamage(`page ${number} has an entry that lies outside of it`)
