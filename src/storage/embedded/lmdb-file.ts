/**
 * Thread: owner. Looks at LMDB's file without LMDB, which maps it into memory: a page that a truncated file lacks would
 * end the process with SIGBUS at its first use. Layout: LMDB's data format 2 as lmdb-js builds it, 64 bits.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const MAGIC = 0xbeefc0de
const DATA_VERSION = 2
const PAGE_HEADER_BYTES = 24
const META_BYTES = 136
const META_FLAG = 0x08
const BRANCH_FLAG = 0x01
const LEAF_FLAG = 0x02
const NO_PAGE = 0xffff_ffff_ffff_ffffn
/** Offsets in a meta record: two table records of 48 bytes follow the magic, version, address and map size. */
const FREE_TABLE = 24
const MAIN_TABLE = FREE_TABLE + 48
const LAST_PAGE = MAIN_TABLE + 48
const TRANSACTION = LAST_PAGE + 8
const ROOT_IN_TABLE = 40
/** Flags of a node. */
const BIG_VALUE = 0x01
const SUB_TABLE = 0x02

interface Meta {
  readonly pageBytes: number
  readonly lastPage: number
  readonly transaction: bigint
  readonly roots: readonly bigint[]
}

/** What is wrong with the file, for a message; undefined when it is sound. The file is only read. */
export function checkLmdbFile(file: string): string | undefined {
  const descriptor = openSync(file, 'r')
  try {
    return check(descriptor, fstatSync(descriptor).size)
  } finally {
    closeSync(descriptor)
  }
}

function check(descriptor: number, fileBytes: number): string | undefined {
  const first = readMeta(descriptor, 0)
  if (typeof first === 'string') return first
  const second = readMeta(descriptor, first.pageBytes)
  if (typeof second === 'string') return second
  const meta = second.transaction > first.transaction ? second : first
  const pages = Math.floor(fileBytes / meta.pageBytes)
  if (pages > meta.lastPage) return undefined
  // The file ends before its last page. That is rare and allowed when those pages are free: then every page in use is
  // looked at.
  const missing = new PageWalk(descriptor, meta.pageBytes, pages).firstMissing(meta.roots)
  return missing === undefined
    ? undefined
    : `is truncated (page ${missing} of ${meta.lastPage + 1} is in use, the file ends after ${pages})`
}

function readMeta(descriptor: number, offset: number): Meta | string {
  const bytes = Buffer.alloc(PAGE_HEADER_BYTES + META_BYTES)
  if (readSync(descriptor, bytes, 0, bytes.length, offset) < bytes.length) return 'is too short to be a store'
  const meta = bytes.subarray(PAGE_HEADER_BYTES)
  if ((bytes.readUInt16LE(18) & META_FLAG) === 0 || meta.readUInt32LE(0) !== MAGIC) return 'is not an LMDB file'
  const version = meta.readUInt32LE(4) & 0xffff
  if (version !== DATA_VERSION) return `is in LMDB's data format ${version}, not ${DATA_VERSION}`
  const pageBytes = meta.readUInt32LE(FREE_TABLE)
  if (pageBytes < 512 || pageBytes > 65536 || (pageBytes & (pageBytes - 1)) !== 0)
    return `says that its pages have ${pageBytes} bytes`
  return {
    pageBytes,
    lastPage: Number(meta.readBigUInt64LE(LAST_PAGE)),
    transaction: meta.readBigUInt64LE(TRANSACTION),
    roots: [FREE_TABLE, MAIN_TABLE].map((table) => meta.readBigUInt64LE(table + ROOT_IN_TABLE)),
  }
}

/** Follows every reference from the roots; only pages of trees are read. */
class PageWalk {
  readonly #descriptor: number
  readonly #pageBytes: number
  readonly #pages: number
  readonly #todo: bigint[] = []

  constructor(descriptor: number, pageBytes: number, pages: number) {
    this.#descriptor = descriptor
    this.#pageBytes = pageBytes
    this.#pages = pages
  }

  firstMissing(roots: readonly bigint[]): bigint | undefined {
    this.#todo.push(...roots)
    const page = Buffer.alloc(this.#pageBytes)
    for (let number = this.#todo.pop(); number !== undefined; number = this.#todo.pop()) {
      if (number === NO_PAGE) continue
      if (number >= this.#pages) return number
      readSync(this.#descriptor, page, 0, page.length, Number(number) * this.#pageBytes)
      const missing = this.#visit(page)
      if (missing !== undefined) return missing
    }
    return undefined
  }

  #visit(page: Buffer): bigint | undefined {
    const flags = page.readUInt16LE(18)
    if ((flags & (BRANCH_FLAG | LEAF_FLAG)) === 0) return undefined
    const nodes = page.readUInt16LE(20) >> 1
    for (let i = 0; i < nodes; i++) {
      const node = page.subarray(PAGE_HEADER_BYTES + page.readUInt16LE(PAGE_HEADER_BYTES + 2 * i))
      if (flags & BRANCH_FLAG) this.#todo.push(BigInt(node.readUIntLE(0, 6)))
      else {
        const missing = this.#visitLeafNode(node)
        if (missing !== undefined) return missing
      }
    }
    return undefined
  }

  /** 0 u32 value size · 4 u16 flags · 6 u16 key size · 8 key · value, or where it is. */
  #visitLeafNode(node: Buffer): bigint | undefined {
    const nodeFlags = node.readUInt16LE(4)
    const value = node.subarray(8 + node.readUInt16LE(6))
    if (nodeFlags & SUB_TABLE) this.#todo.push(value.readBigUInt64LE(ROOT_IN_TABLE))
    if ((nodeFlags & BIG_VALUE) === 0) return undefined
    const first = value.readBigUInt64LE(0)
    const last = first + BigInt(Math.floor((PAGE_HEADER_BYTES + node.readUInt32LE(0) - 1) / this.#pageBytes))
    return last >= this.#pages ? last : undefined
  }
}
