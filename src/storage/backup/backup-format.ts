/**
 * Thread: data. A backup: one file with every live key of a store at one revision.
 *
 *   "keelson-backup 1\n", then frames: u32 length · u32 CRC-32 of the payload, begun with the number of the frame · payload
 *
 *   payload  1 head   JSON BackupHead                                                 the first
 *            2 lease  i64 lease · f64 ttlSeconds · f64 expiresAtMs                    before the keys that have it
 *            3 key    u16 key length · u32 version · f64 createRevision · f64 modRevision · i64 lease · key · value
 *            4 end    JSON BackupEnd                                                  the last: without it the file is cut
 *
 * Numbers are little-endian. Keys and values are as Kubernetes lays them out in etcd, encrypted where they were.
 */
import { crc32 } from 'node:zlib'
import type { KeyValue, LeaseId } from '../contract/kv.js'

export const BACKUP_MAGIC = 'keelson-backup '
export const BACKUP_VERSION = 1
/** The largest payload: a key and a value at their limits, and more than any of them. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024
export const FRAME_HEADER_BYTES = 8

const HEAD = 1
const LEASE = 2
const KEY = 3
const END = 4
const KEY_HEADER_BYTES = 31
/** The longest key of the embedded engine, which LMDB sets. */
const MAX_KEY_BYTES = 1978
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export interface BackupHead {
  readonly source: 'embedded' | 'etcd'
  /** The revision that the backup is the state of. */
  readonly revision: number
  readonly createdAt: string
  /** How many keys there will be; fewer come where damaged ones were left out. */
  readonly keys: number
}

export interface BackupEnd {
  readonly keys: number
  readonly leases: number
}

export interface BackupLease {
  readonly lease: LeaseId
  readonly ttlSeconds: number
  /** In wall time, so that it also runs while the backup lies somewhere. */
  readonly expiresAtMs: number
}

export type BackupItem =
  | { readonly type: 'head'; readonly head: BackupHead }
  | { readonly type: 'lease'; readonly lease: BackupLease }
  | { readonly type: 'key'; readonly kv: KeyValue }
  | { readonly type: 'end'; readonly end: BackupEnd }

/** The file is no backup, or not the one that was written. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
}

export function encodeFrame(item: BackupItem, number: number): Buffer {
  const payload = encodePayload(item)
  const head = Buffer.allocUnsafe(FRAME_HEADER_BYTES)
  head.writeUInt32LE(payload.length, 0)
  head.writeUInt32LE(crc32(payload, number), 4)
  return Buffer.concat([head, payload])
}

function encodePayload(item: BackupItem): Buffer {
  switch (item.type) {
    case 'head':
      return Buffer.concat([Buffer.of(HEAD), Buffer.from(JSON.stringify(item.head))])
    case 'end':
      return Buffer.concat([Buffer.of(END), Buffer.from(JSON.stringify(item.end))])
    case 'lease': {
      const bytes = Buffer.allocUnsafe(25)
      bytes[0] = LEASE
      bytes.writeBigInt64LE(item.lease.lease, 1)
      bytes.writeDoubleLE(item.lease.ttlSeconds, 9)
      bytes.writeDoubleLE(item.lease.expiresAtMs, 17)
      return bytes
    }
    case 'key': {
      const { kv } = item
      const keyBytes = Buffer.byteLength(kv.key)
      // Better no backup than one that cannot be restored.
      if (keyBytes < 1 || keyBytes > MAX_KEY_BYTES)
        throw new BackupError(`cannot hold a key of ${keyBytes} bytes: ${kv.key.slice(0, 100)}`)
      const bytes = Buffer.allocUnsafe(KEY_HEADER_BYTES + keyBytes + kv.value.length)
      bytes[0] = KEY
      bytes.writeUInt16LE(keyBytes, 1)
      bytes.writeUInt32LE(kv.version, 3)
      bytes.writeDoubleLE(kv.createRevision, 7)
      bytes.writeDoubleLE(kv.modRevision, 15)
      bytes.writeBigInt64LE(kv.lease, 23)
      bytes.write(kv.key, KEY_HEADER_BYTES)
      bytes.set(kv.value, KEY_HEADER_BYTES + keyBytes)
      return bytes
    }
  }
}

/** `bytes` must be the caller's for good: values point into it. */
export function decodePayload(bytes: Buffer, checksum: number, number: number): BackupItem {
  if (crc32(bytes, number) !== checksum)
    throw new BackupError(`is damaged: record ${number} does not match its checksum`)
  try {
    return decodeSound(bytes)
  } catch (error) {
    // A checksum is no proof of who wrote it: what cannot be decoded at all is the file's fault, and is told as such.
    if (error instanceof BackupError) throw error
    throw new BackupError(`is damaged: record ${number} cannot be read (${String(error)})`)
  }
}

function decodeSound(bytes: Buffer): BackupItem {
  switch (bytes[0]) {
    case HEAD:
      return { type: 'head', head: JSON.parse(bytes.toString('utf8', 1)) as BackupHead }
    case END:
      return { type: 'end', end: JSON.parse(bytes.toString('utf8', 1)) as BackupEnd }
    case LEASE:
      return {
        type: 'lease',
        lease: {
          lease: bytes.readBigInt64LE(1),
          ttlSeconds: bytes.readDoubleLE(9),
          expiresAtMs: bytes.readDoubleLE(17),
        },
      }
    case KEY:
      return { type: 'key', kv: decodeKey(bytes) }
    default:
      throw new BackupError(`has a record of the unknown kind ${bytes[0]}: a newer version of Keelson wrote it`)
  }
}

function decodeKey(bytes: Buffer): KeyValue {
  const keyBytes = bytes.readUInt16LE(1)
  const keyEnd = KEY_HEADER_BYTES + keyBytes
  if (keyBytes < 1 || keyBytes > MAX_KEY_BYTES || keyEnd > bytes.length)
    throw new BackupError(`has a key of ${keyBytes} bytes in a record of ${bytes.length}`)
  return {
    key: UTF8.decode(bytes.subarray(KEY_HEADER_BYTES, keyEnd)),
    value: bytes.subarray(keyEnd),
    version: bytes.readUInt32LE(3),
    createRevision: bytes.readDoubleLE(7),
    modRevision: bytes.readDoubleLE(15),
    lease: bytes.readBigInt64LE(23),
  }
}
