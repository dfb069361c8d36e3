/**
 * Thread: owner. The bytes in LMDB. Numbers are little-endian; revisions are doubles, exact below 2^53.
 *
 * keys    key              -> modRevision f64, createRevision f64, version u32, 0 u32, lease i64: the live keys
 * graves  key              -> revision f64 of the deletion, until compaction has passed it
 * log     revision (8 BE)  -> what happened at that revision: the event log, and the only home of values
 *           0 u8 type · 1 u8 zero · 2 u16 key length · 4 u32 version · 8 f64 createRevision · 16 f64 previous
 *           · 24 i64 lease · 32 key · value
 * leases  lease (8 BE)     -> ttlSeconds f64, expiresAtMs f64
 * leased  lease (8 BE), key -> nothing: which keys a lease takes with it
 * meta    'state'          -> revision f64, compacted f64, pruned f64, last lease f64
 *         'fence'          -> JSON of who owns the folder; its LMDB version number is the fencing token
 */
import type { KeyValue, LeaseId } from '../contract/kv.js'

const PUT = 1
const DELETE = 2
const LOG_HEADER_BYTES = 32
const INDEX_BYTES = 32
const STATE_BYTES = 32
const LEASE_BYTES = 16

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
}

export interface LeaseRecord {
  readonly ttlSeconds: number
  /** When the lease ends, in wall time, so that it also runs while the process is down. */
  readonly expiresAtMs: number
}

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
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, 64 * 1024))
      this.#used = 0
    }
    this.#bytes += bytes
    const piece = this.#buffer.subarray(this.#used, this.#used + bytes)
    this.#used += (bytes + 7) & ~7
    return piece
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

export const decodeRevision = (bytes: Buffer): number => bytes.readDoubleLE(0)

export function encodeLogEntry(entry: LogEntry, slab: Slab): Buffer {
  const { kv } = entry
  const keyBytes = Buffer.byteLength(kv.key)
  const bytes = slab.take(LOG_HEADER_BYTES + keyBytes + kv.value.length)
  bytes[0] = entry.type === 'put' ? PUT : DELETE
  bytes[1] = 0
  bytes.writeUInt16LE(keyBytes, 2)
  bytes.writeUInt32LE(kv.version, 4)
  bytes.writeDoubleLE(kv.createRevision, 8)
  bytes.writeDoubleLE(entry.previous, 16)
  bytes.writeBigInt64LE(kv.lease, 24)
  bytes.write(kv.key, LOG_HEADER_BYTES)
  bytes.set(kv.value, LOG_HEADER_BYTES + keyBytes)
  return bytes
}

/** `bytes` may be LMDB's own reused buffer: everything is copied out of it. */
export function decodeLogEntry(revision: number, bytes: Buffer, withValue = true): LogEntry {
  const keyEnd = LOG_HEADER_BYTES + bytes.readUInt16LE(2)
  const value = new Uint8Array(withValue ? bytes.length - keyEnd : 0)
  if (value.length > 0) value.set(bytes.subarray(keyEnd, bytes.length))
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

export function encodeState(state: EngineState, slab: Slab): Buffer {
  const bytes = slab.take(STATE_BYTES)
  bytes.writeDoubleLE(state.revision, 0)
  bytes.writeDoubleLE(state.compacted, 8)
  bytes.writeDoubleLE(state.pruned, 16)
  bytes.writeDoubleLE(state.lastLease, 24)
  return bytes
}

export function decodeState(bytes: Buffer): EngineState {
  return {
    revision: bytes.readDoubleLE(0),
    compacted: bytes.readDoubleLE(8),
    pruned: bytes.readDoubleLE(16),
    lastLease: bytes.readDoubleLE(24),
  }
}

export function encodeLease(lease: LeaseRecord, slab: Slab): Buffer {
  const bytes = slab.take(LEASE_BYTES)
  bytes.writeDoubleLE(lease.ttlSeconds, 0)
  bytes.writeDoubleLE(lease.expiresAtMs, 8)
  return bytes
}

export function decodeLease(bytes: Buffer): LeaseRecord {
  return { ttlSeconds: bytes.readDoubleLE(0), expiresAtMs: bytes.readDoubleLE(8) }
}

/** A key of the table `leased`: the lease's number in front, so that the keys of one lease lie together. */
export function leasedKey(lease: LeaseId, key: string): Buffer {
  const bytes = Buffer.allocUnsafe(8 + Buffer.byteLength(key))
  bytes.writeBigInt64BE(lease, 0)
  bytes.write(key, 8)
  return bytes
}

export const keyOfLeasedKey = (bytes: Buffer): string => bytes.toString('utf8', 8)
