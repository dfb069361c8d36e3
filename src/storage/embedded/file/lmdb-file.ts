/**
 * Thread: owner. LMDB's file, read without LMDB. LMDB maps it into memory and trusts every number in it: a page that a
 * truncated file lacks, or a size with a flipped bit, ends the process at its first use. Here each number is held
 * against its limits before it is followed. Layout: LMDB's data format 2 as lmdb-js builds it, 64 bits.
 *
 * The file may belong to a store that is being written: see pinned-file.ts.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const MAGIC = 0xbeefc0de
const DATA_VERSION = 2
export const PAGE_HEADER_BYTES = 24
const META_BYTES = 136
const BRANCH_FLAG = 0x01
const LEAF_FLAG = 0x02
const BIG_VALUE_FLAG = 0x04
const META_FLAG = 0x08
const NO_PAGE = 0xffff_ffff_ffff_ffffn
/** Offsets in a meta record: two table records of 48 bytes follow the magic, version, address and map size. */
const FREE_TABLE = 24
const TABLE_BYTES = 48
const MAIN_TABLE = FREE_TABLE + TABLE_BYTES
const LAST_PAGE = MAIN_TABLE + TABLE_BYTES
const TRANSACTION = LAST_PAGE + 8
const MIN_PAGE_BYTES = 512
const MAX_PAGE_BYTES = 65_536

/** What is wrong with the file, for a message that begins with its name or with what was looked for. */
export class LmdbDamage extends Error {
  override readonly name = 'LmdbDamage'
}

/** A tree of the file. */
export interface LmdbTable {
  /** The number of its root page; undefined for an empty one. */
  readonly root: number | undefined
  readonly depth: number
  readonly entries: number
}

interface Meta {
  readonly pageBytes: number
  readonly lastPage: number
  readonly transaction: bigint
  readonly free: LmdbTable
  readonly main: LmdbTable
}

export class LmdbFile {
  readonly meta: Meta
  /** How many whole pages the file has. */
  readonly pages: number
  readonly #descriptor: number

  private constructor(descriptor: number, meta: Meta) {
    this.#descriptor = descriptor
    this.meta = meta
    this.pages = Math.floor(fstatSync(descriptor).size / meta.pageBytes)
  }

  /** Throws LmdbDamage when the file is no store, or its two meta pages cannot be right. */
  static open(file: string): LmdbFile {
    const descriptor = openSync(file, 'r')
    try {
      return new LmdbFile(descriptor, newestMeta(descriptor))
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
  }

  /** Reads a page of a tree into `page` and holds its header against what it can be. */
  readTreePage(number: number, page: Buffer): 'branch' | 'leaf' {
    this.#read(number, page)
    this.#checkHeader(number, page)
    const kind = page.readUInt16LE(18) & (BRANCH_FLAG | LEAF_FLAG | BIG_VALUE_FLAG | META_FLAG)
    if (kind !== BRANCH_FLAG && kind !== LEAF_FLAG) throw new LmdbDamage(`page ${number} is no page of a tree`)
    const lower = page.readUInt16LE(20)
    const upper = page.readUInt16LE(22)
    if (lower > upper || (lower & 1) !== 0 || upper > this.meta.pageBytes - PAGE_HEADER_BYTES)
      throw new LmdbDamage(`page ${number} says that it is free from ${lower} to ${upper}`)
    return kind === BRANCH_FLAG ? 'branch' : 'leaf'
  }

  /** How many pages a value takes that has pages of its own. */
  pagesOf(valueBytes: number): number {
    return Math.floor((PAGE_HEADER_BYTES - 1 + valueBytes) / this.meta.pageBytes) + 1
  }

  readBigValue(number: number, valueBytes: number): Buffer {
    const count = this.pagesOf(valueBytes)
    // Asked before any memory is taken: the size may be what is damaged.
    this.#checkRange(number, count)
    const bytes = Buffer.allocUnsafe(count * this.meta.pageBytes)
    this.#read(number, bytes)
    this.#checkHeader(number, bytes)
    if ((bytes.readUInt16LE(18) & BIG_VALUE_FLAG) === 0 || bytes.readUInt32LE(20) !== count)
      throw new LmdbDamage(`page ${number} does not begin a value of ${count} pages`)
    return bytes.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + valueBytes)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  #checkRange(number: number, count: number): void {
    const last = number + count - 1
    if (number < 2 || last > this.meta.lastPage) throw new LmdbDamage(`there is no page ${last}`)
    if (last >= this.pages)
      throw new LmdbDamage(
        `is truncated (page ${last} of ${this.meta.lastPage + 1} is in use, the file ends after ${this.pages})`,
      )
  }

  #read(number: number, target: Buffer): void {
    const { pageBytes } = this.meta
    this.#checkRange(number, target.length / pageBytes)
    let done: number
    try {
      done = readSync(this.#descriptor, target, 0, target.length, number * pageBytes)
    } catch (error) {
      throw new LmdbDamage(`page ${number} cannot be read: ${(error as Error).message}`)
    }
    if (done < target.length) throw new LmdbDamage(`is truncated (page ${number} could not be read whole)`)
  }

  /** A page knows its number and the transaction that wrote it: one in another's place gives itself away. */
  #checkHeader(number: number, page: Buffer): void {
    const own = page.readBigUInt64LE(0)
    if (own !== BigInt(number)) throw new LmdbDamage(`page ${number} says that it is page ${own}`)
    const written = page.readBigUInt64LE(8)
    if (written > this.meta.transaction)
      throw new LmdbDamage(`page ${number} is of transaction ${written}, after the last one, ${this.meta.transaction}`)
  }
}

/** The record of a table, as meta pages and the main table hold them. */
export function tableOf(bytes: Buffer): LmdbTable {
  if (bytes.length < TABLE_BYTES) throw new LmdbDamage(`has a table record of ${bytes.length} bytes`)
  const root = bytes.readBigUInt64LE(40)
  return {
    root: root === NO_PAGE ? undefined : Number(root),
    depth: bytes.readUInt16LE(6),
    entries: Number(bytes.readBigUInt64LE(32)),
  }
}

function newestMeta(descriptor: number): Meta {
  const first = settledMeta(descriptor, 0)
  const second = settledMeta(descriptor, first.pageBytes)
  const [a, b] = [first.transaction, second.transaction]
  // LMDB writes them in turns, so they are of neighbouring transactions. It takes the newer one: with a number that
  // changed by itself that might be an older state than the last.
  const distance = a > b ? a - b : b - a
  if (distance > 1n || (a & 1n) !== 0n || ((b & 1n) !== 1n && b !== 0n))
    throw new LmdbDamage(`has meta pages of transactions ${a} and ${b}, which cannot follow one another`)
  if (first.pageBytes !== second.pageBytes) throw new LmdbDamage('has meta pages that differ in the size of pages')
  return b > a ? second : first
}

/** Reads a meta page until it reads the same twice: a store that is in use may be writing it. */
function settledMeta(descriptor: number, offset: number): Meta {
  let bytes = metaBytes(descriptor, offset)
  for (let again = metaBytes(descriptor, offset); !again.equals(bytes); again = metaBytes(descriptor, offset))
    bytes = again
  return decodeMeta(bytes)
}

function metaBytes(descriptor: number, offset: number): Buffer {
  const bytes = Buffer.alloc(PAGE_HEADER_BYTES + META_BYTES)
  if (readSync(descriptor, bytes, 0, bytes.length, offset) < bytes.length)
    throw new LmdbDamage('is too short to be a store')
  return bytes
}

function decodeMeta(bytes: Buffer): Meta {
  const meta = bytes.subarray(PAGE_HEADER_BYTES)
  if ((bytes.readUInt16LE(18) & META_FLAG) === 0 || meta.readUInt32LE(0) !== MAGIC)
    throw new LmdbDamage('is not an LMDB file')
  const version = meta.readUInt32LE(4) & 0xffff
  if (version !== DATA_VERSION) throw new LmdbDamage(`is in LMDB's data format ${version}, not ${DATA_VERSION}`)
  const pageBytes = meta.readUInt32LE(FREE_TABLE)
  if (pageBytes < MIN_PAGE_BYTES || pageBytes > MAX_PAGE_BYTES || (pageBytes & (pageBytes - 1)) !== 0)
    throw new LmdbDamage(`says that its pages have ${pageBytes} bytes`)
  return {
    pageBytes,
    lastPage: Number(meta.readBigUInt64LE(LAST_PAGE)),
    transaction: meta.readBigUInt64LE(TRANSACTION),
    free: tableOf(meta.subarray(FREE_TABLE, MAIN_TABLE)),
    main: tableOf(meta.subarray(MAIN_TABLE, LAST_PAGE)),
  }
}
