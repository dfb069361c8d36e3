/**
 * Thread: owner. The bytes in LMDB. Numbers are little-endian; revisions are doubles, exact below 2^53.
 *
 * keys    key              -> modRevision f64, createRevision f64, version u32, 0 u32, lease i64: the live keys
 * graves  key              -> revision f64 of the deletion, until compaction has passed it
 * log     revision (8 BE)  -> what happened at that revision: the event log, and the only home of values
 *           0 u8 type · 1 u8 whether there is a checksum · 2 u16 key length · 4 u32 version · 8 f64 createRevision
 *           · 16 f64 previous · 24 i64 lease · 32 key · value · checksum u32
 * leases  lease (8 BE)     -> ttlSeconds f64, expiresAtMs f64, checksum u32
 * leased  lease (8 BE), key -> nothing: which keys a lease takes with it
 * meta    'state'          -> revision f64, compacted f64, pruned f64, last lease f64, uncheckedUntil f64, checksum u32
 *         'fence'          -> JSON of who owns the folder; its LMDB version number is the fencing token
 *
 * Checksums are CRC-32 over all bytes before them, begun with the number the record lies under: a sound record in the
 * wrong place is noticed too. `keys`, `graves` and `leased` follow from the log and are compared with it instead.
 * Format version 1 had no checksums: log entries up to `uncheckedUntil` may lack one, and shorter leases and states do.
 */
import { crc32 } from 'node:zlib'
import type { KeyValue, LeaseId } from '../contract/kv.js'

const PUT = 1
const DELETE = 2
const WITH_CHECKSUM = 1
const CHECKSUM_BYTES = 4
const LOG_HEADER_BYTES = 32
const INDEX_BYTES = 32
const STATE_BYTES_V1 = 32
const STATE_BYTES = STATE_BYTES_V1 + 8 + CHECKSUM_BYTES
const LEASE_BYTES_V1 = 16
const LEASE_BYTES = LEASE_BYTES_V1 + CHECKSUM_BYTES
/** As in etcd, an empty store is at revision 1 and its first write is 2. */
export const EMPTY_REVISION = 1
/** What the checksum of the state record begins with; there is only one. */
const STATE_SEED = 0

/** A record whose bytes are not those that were written. The reader knows which one it is, and says so. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord'
}

/** Where the newest version of a live key is in the log. */
export interface IndexEntry {
  readonly modRevision: number
  readonly createRevision: number
  readonly version: number
  readonly lease: LeaseId
}

export interface LogEntry {
  readonly type: 'put' | 'delete'
  readonly kv: KeyValue
  /** The revision of the entry of the same key before this one, a deletion included; 0 when there was none. */
  readonly previous: number
}

export interface EngineState {
  readonly revision: number
  /** History up to this revision is gone for callers. */
  readonly compacted: number
  /** History up to this revision has been removed from the log; less than `compacted` while a compaction is at work. */
  readonly pruned: number
  readonly lastLease: number
  /** Entries of the log up to this revision may be of format version 1, which had no checksums; 0 in a newer store. */
  readonly uncheckedUntil: number
}

export interface LeaseRecord {
  readonly ttlSeconds: number
  /** When the lease ends, in wall time, so that it also runs while the process is down. */
  readonly expiresAtMs: number
}

/** A commit of 64 pods of 4 KB; pages that are not used are not taken. */
const SLAB_BYTES = 256 * 1024

/** Hands out pieces of larger buffers: LMDB pins and addresses one ArrayBuffer instead of one a record. */
export class Slab {
  #buffer = Buffer.alloc(0)
  #used = 0
  #bytes = 0

  /** How many bytes have been handed out. */
  get bytes(): number {
    return this.#bytes
  }

  take(bytes: number): Buffer {
    if (this.#used + bytes > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, SLAB_BYTES))
      this.#used = 0
    }
    this.#bytes += bytes
    const piece = this.#buffer.subarray(this.#used, this.#used + bytes)
    this.#used += (bytes + 7) & ~7
    return piece
  }

  /** What was handed out is written over from now on. */
  reuse(): void {
    if (this.#buffer.length > SLAB_BYTES) this.#buffer = Buffer.alloc(0)
    this.#used = 0
    this.#bytes = 0
  }
}

export function encodeIndexEntry(entry: IndexEntry, slab: Slab): Buffer {
  const bytes = slab.take(INDEX_BYTES)
  bytes.writeDoubleLE(entry.modRevision, 0)
  bytes.writeDoubleLE(entry.createRevision, 8)
  bytes.writeUInt32LE(entry.version, 16)
  bytes.writeUInt32LE(0, 20)
  bytes.writeBigInt64LE(entry.lease, 24)
  return bytes
}

export function decodeIndexEntry(bytes: Buffer): IndexEntry {
  if (bytes.length !== INDEX_BYTES) throw new DamagedRecord(`has ${bytes.length} bytes instead of ${INDEX_BYTES}`)
  return {
    modRevision: bytes.readDoubleLE(0),
    createRevision: bytes.readDoubleLE(8),
    version: bytes.readUInt32LE(16),
    lease: bytes.readBigInt64LE(24),
  }
}

export function encodeRevision(revision: number, slab: Slab): Buffer {
  const bytes = slab.take(8)
  bytes.writeDoubleLE(revision, 0)
  return bytes
}

export function decodeRevision(bytes: Buffer): number {
  if (bytes.length !== 8) throw new DamagedRecord(`has ${bytes.length} bytes instead of 8`)
  return bytes.readDoubleLE(0)
}

/** `checked`: with a checksum; without one as in format version 1, for a store that an older version is to open. */
export function encodeLogEntry(entry: LogEntry, slab: Slab, checked = true): Buffer {
  const { kv } = entry
  const keyBytes = Buffer.byteLength(kv.key)
  const end = LOG_HEADER_BYTES + keyBytes + kv.value.length
  const bytes = slab.take(checked ? end + CHECKSUM_BYTES : end)
  bytes[0] = entry.type === 'put' ? PUT : DELETE
  bytes[1] = checked ? WITH_CHECKSUM : 0
  bytes.writeUInt16LE(keyBytes, 2)
  bytes.writeUInt32LE(kv.version, 4)
  bytes.writeDoubleLE(kv.createRevision, 8)
  bytes.writeDoubleLE(entry.previous, 16)
  bytes.writeBigInt64LE(kv.lease, 24)
  bytes.write(kv.key, LOG_HEADER_BYTES)
  bytes.set(kv.value, LOG_HEADER_BYTES + keyBytes)
  if (checked) seal(bytes, seedOf(kv.modRevision))
  return bytes
}

export interface DecodeOptions {
  /** The state's: entries up to this revision may lack a checksum. */
  readonly uncheckedUntil: number
  readonly withValue: boolean
}

/**
 * `bytes` may be LMDB's own reused buffer: everything is copied out of it. Throws DamagedRecord when the bytes are not
 * those that were written.
 */
export function decodeLogEntry(revision: number, bytes: Buffer, options: DecodeOptions): LogEntry {
  const end = logEntryEnd(revision, bytes, options.uncheckedUntil)
  const keyEnd = LOG_HEADER_BYTES + bytes.readUInt16LE(2)
  const value = new Uint8Array(options.withValue ? end - keyEnd : 0)
  if (value.length > 0) value.set(bytes.subarray(keyEnd, end))
  return {
    type: bytes[0] === PUT ? 'put' : 'delete',
    kv: {
      key: bytes.toString('utf8', LOG_HEADER_BYTES, keyEnd),
      value,
      modRevision: revision,
      createRevision: bytes.readDoubleLE(8),
      version: bytes.readUInt32LE(4),
      lease: bytes.readBigInt64LE(24),
    },
    previous: bytes.readDoubleLE(16),
  }
}

export const hasChecksum = (logEntry: Buffer): boolean => logEntry[1] === WITH_CHECKSUM

/** Where the value ends. */
function logEntryEnd(revision: number, bytes: Buffer, uncheckedUntil: number): number {
  if (bytes.length < LOG_HEADER_BYTES) throw new DamagedRecord(`has only ${bytes.length} bytes`)
  if (!hasChecksum(bytes) && (bytes[1] !== 0 || revision > uncheckedUntil))
    throw new DamagedRecord('has lost the mark of its checksum')
  if (hasChecksum(bytes)) checkSeal(bytes, seedOf(revision))
  const end = hasChecksum(bytes) ? bytes.length - CHECKSUM_BYTES : bytes.length
  if (end < LOG_HEADER_BYTES + bytes.readUInt16LE(2)) throw new DamagedRecord('ends within its key')
  if (bytes[0] !== PUT && bytes[0] !== DELETE) throw new DamagedRecord(`is of the unknown type ${bytes[0]}`)
  return end
}

/** A number that differs for neighbours, and for all revisions below 2^32. */
const seedOf = (revision: number): number => ((revision % 2 ** 32) ^ Math.floor(revision / 2 ** 32)) >>> 0

function seal(bytes: Buffer, seed: number): void {
  const end = bytes.length - CHECKSUM_BYTES
  bytes.writeUInt32LE(crc32(bytes.subarray(0, end), seed), end)
}

function checkSeal(bytes: Buffer, seed: number): void {
  const end = bytes.length - CHECKSUM_BYTES
  if (end < 0 || bytes.readUInt32LE(end) !== crc32(bytes.subarray(0, end), seed))
    throw new DamagedRecord('does not match its checksum')
}

export function encodeState(state: EngineState, slab: Slab, checked = true): Buffer {
  const bytes = slab.take(checked ? STATE_BYTES : STATE_BYTES_V1)
  bytes.writeDoubleLE(state.revision, 0)
  bytes.writeDoubleLE(state.compacted, 8)
  bytes.writeDoubleLE(state.pruned, 16)
  bytes.writeDoubleLE(state.lastLease, 24)
  if (!checked) return bytes
  bytes.writeDoubleLE(state.uncheckedUntil, 32)
  seal(bytes, STATE_SEED)
  return bytes
}

/** A state of format version 1 says that everything so far lacks checksums. */
export function decodeState(bytes: Buffer): EngineState {
  if (bytes.length === STATE_BYTES) checkSeal(bytes, STATE_SEED)
  else if (bytes.length !== STATE_BYTES_V1) throw new DamagedRecord(`has ${bytes.length} bytes`)
  const revision = bytes.readDoubleLE(0)
  return {
    revision,
    compacted: bytes.readDoubleLE(8),
    pruned: bytes.readDoubleLE(16),
    lastLease: bytes.readDoubleLE(24),
    uncheckedUntil: bytes.length === STATE_BYTES ? bytes.readDoubleLE(32) : revision,
  }
}

export function encodeLease(id: LeaseId, lease: LeaseRecord, slab: Slab, checked = true): Buffer {
  const bytes = slab.take(checked ? LEASE_BYTES : LEASE_BYTES_V1)
  bytes.writeDoubleLE(lease.ttlSeconds, 0)
  bytes.writeDoubleLE(lease.expiresAtMs, 8)
  if (checked) seal(bytes, Number(BigInt.asUintN(32, id)))
  return bytes
}

export function decodeLease(id: LeaseId, bytes: Buffer): LeaseRecord {
  if (bytes.length === LEASE_BYTES) checkSeal(bytes, Number(BigInt.asUintN(32, id)))
  else if (bytes.length !== LEASE_BYTES_V1) throw new DamagedRecord(`has ${bytes.length} bytes`)
  return { ttlSeconds: bytes.readDoubleLE(0), expiresAtMs: bytes.readDoubleLE(8) }
}

/** A key of the table `leased`: the lease's number in front, so that the keys of one lease lie together. */
export function leasedKey(lease: LeaseId, key: string): Buffer {
  const bytes = Buffer.allocUnsafe(8 + Buffer.byteLength(key))
  bytes.writeBigInt64BE(lease, 0)
  bytes.write(key, 8)
  return bytes
}

export const leaseOfLeasedKey = (bytes: Buffer): LeaseId => bytes.readBigInt64BE(0)

export const keyOfLeasedKey = (bytes: Buffer): string => bytes.toString('utf8', 8)
