/**
 * Thread: any. The messages of etcdserverpb and mvccpb that the hot paths use. Requests are encoded straight to a
 * gRPC frame, replies decoded straight to the contract's shapes. Field numbers are etcd's (rpc.proto, kv.proto).
 */
import { type KeyValue, type KvEvent, type LeaseId, NO_LEASE } from '../contract/kv.js'
import { type WireReader as Reader, WireReader, WireWriter } from './wire.js'

const NO_VALUE = Buffer.alloc(0)
/** Bytes of tags, lengths and revisions around the keys and the value of a request; a wrong guess only costs a copy. */
const OVERHEAD_BYTES = 96
const COMPARE_TARGET_MOD = 2

export const RANGE = '/etcdserverpb.KV/Range'
/** A key that never exists: reading it is the cheapest linearizable question. */
export const NO_KEY = '\0keelson'

export interface RangeRequest {
  readonly key: string
  /** The end of the range; without it the one key is read. */
  readonly rangeEnd?: string
  readonly limit?: number
  readonly revision?: number
  readonly keysOnly?: boolean
  readonly countOnly?: boolean
}

export interface RangeResponse {
  readonly revision: number
  readonly kvs: KeyValue[]
  readonly more: boolean
  readonly count: number
}

export interface TxnResponse {
  readonly revision: number
  readonly succeeded: boolean
  /** What the one operation of the transaction read or deleted. */
  readonly kv: KeyValue | undefined
}

export interface WatchCreateRequest {
  readonly key: string
  readonly rangeEnd?: string
  readonly startRevision: number
}

export interface WatchResponse {
  readonly revision: number
  /** The number of the watch; -1 in the reply to a progress request, which is for all watches of the stream. */
  readonly watchId: number
  readonly created: boolean
  readonly canceled: boolean
  readonly compactRevision: number
  readonly cancelReason: string
  /** Whether more events of the same reply follow in the next one. */
  readonly fragment: boolean
  readonly events: KvEvent[]
}

export interface StatusResponse {
  readonly version: string
  readonly dbSize: number
}

export function encodeRange(request: RangeRequest): Buffer {
  const w = new WireWriter(OVERHEAD_BYTES + 2 * request.key.length)
  writeRange(w, request)
  return w.finishFrame()
}

/**
 * A transaction: when the key's mod revision is `expectedModRevision`, put the value; else, when asked, read the key.
 */
export function encodeOptimisticPut(
  key: string,
  value: Uint8Array,
  expectedModRevision: number,
  lease: LeaseId,
  getOnFailure: boolean,
): Buffer {
  const w = new WireWriter(OVERHEAD_BYTES + 3 * key.length + value.length)
  if (getOnFailure) writeFailureGet(w, key)
  const success = w.mark()
  const put = w.mark()
  if (lease !== NO_LEASE) w.int64(3, lease)
  w.bytes(2, value)
  w.string(1, key)
  w.message(2, put)
  w.message(2, success)
  writeCompareMod(w, key, expectedModRevision)
  return w.finishFrame()
}

/** The same transaction for a deletion, which gives back what it deleted. */
export function encodeOptimisticDelete(key: string, expectedModRevision: number, getOnFailure: boolean): Buffer {
  const w = new WireWriter(OVERHEAD_BYTES + 3 * key.length)
  if (getOnFailure) writeFailureGet(w, key)
  const success = w.mark()
  const deletion = w.mark()
  w.flag(3, true)
  w.string(1, key)
  w.message(3, deletion)
  w.message(2, success)
  writeCompareMod(w, key, expectedModRevision)
  return w.finishFrame()
}

export function encodeWatchCreate(request: WatchCreateRequest): Buffer {
  const w = new WireWriter(OVERHEAD_BYTES + 2 * request.key.length)
  const create = w.mark()
  w.flag(8, true) // fragment
  w.flag(6, true) // prev_kv
  w.flag(4, true) // progress_notify: also moves the point of resumption of a quiet watch past compactions
  w.numberUnlessZero(3, request.startRevision)
  if (request.rangeEnd !== undefined) w.string(2, request.rangeEnd)
  w.string(1, request.key)
  w.message(1, create)
  return w.finishFrame()
}

export function encodeWatchProgress(): Buffer {
  const w = new WireWriter(16)
  w.message(3, w.mark())
  return w.finishFrame()
}

export function encodeLeaseGrant(ttlSeconds: number): Buffer {
  const w = new WireWriter(OVERHEAD_BYTES)
  w.number(1, ttlSeconds)
  return w.finishFrame()
}

export function encodeLeaseTime(lease: LeaseId): Buffer {
  const w = new WireWriter(OVERHEAD_BYTES)
  w.int64(1, lease)
  return w.finishFrame()
}

/** The seconds left are -1 for a lease that has ended. */
export function decodeLeaseTime(reply: Buffer): { ttlSeconds: number; remainingSeconds: number } {
  const r = new WireReader(reply)
  let ttlSeconds = 0
  let remainingSeconds = 0
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 3) remainingSeconds = Number(r.int64())
    else if (field === 4) ttlSeconds = Number(r.int64())
    else r.skip()
  }
  return { ttlSeconds, remainingSeconds }
}

export function encodeCompaction(revision: number): Buffer {
  const w = new WireWriter(OVERHEAD_BYTES)
  w.number(1, revision)
  return w.finishFrame()
}

/** The question for a server's status has no words. */
export const encodeStatus = (): Buffer => new WireWriter(OVERHEAD_BYTES).finishFrame()

export function decodeLeaseGrant(reply: Buffer): LeaseId {
  const r = new WireReader(reply)
  let id = NO_LEASE
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 2) id = r.int64()
    else r.skip()
  }
  return id
}

export function decodeStatus(reply: Buffer): StatusResponse {
  const r = new WireReader(reply)
  let version = ''
  let dbSize = 0
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 2) version = r.string()
    else if (field === 3) dbSize = r.number()
    else r.skip()
  }
  return { version, dbSize }
}

export function decodeRange(reply: Buffer): RangeResponse {
  return readRange(new WireReader(reply))
}

export function decodeTxn(reply: Buffer): TxnResponse {
  const r = new WireReader(reply)
  let revision = 0
  let succeeded = false
  let kv: KeyValue | undefined
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 1) revision = r.message(readHeader)
    else if (field === 2) succeeded = r.flag()
    else if (field === 3) kv = r.message(readResponseOp)
    else r.skip()
  }
  return { revision, succeeded, kv }
}

/** The revision in the header of an answer, which every message of etcd begins with. */
export function decodeRevision(reply: Buffer): number {
  const r = new WireReader(reply)
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 1) return r.message(readHeader)
    r.skip()
  }
  throw new RangeError('an answer of etcd without a header')
}

export function decodeWatch(reply: Buffer): WatchResponse {
  const r = new WireReader(reply)
  let revision = 0
  let watchId = 0
  let created = false
  let canceled = false
  let compactRevision = 0
  let cancelReason = ''
  let fragment = false
  const events: KvEvent[] = []
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 11) events.push(r.message(readEvent))
    else if (field === 1) revision = r.message(readHeader)
    else if (field === 2) watchId = r.number()
    else if (field === 3) created = r.flag()
    else if (field === 4) canceled = r.flag()
    else if (field === 5) compactRevision = r.number()
    else if (field === 6) cancelReason = r.string()
    else if (field === 7) fragment = r.flag()
    else r.skip()
  }
  return { revision, watchId, created, canceled, compactRevision, cancelReason, fragment, events }
}

function writeRange(w: WireWriter, request: RangeRequest): void {
  w.flag(9, request.countOnly === true)
  w.flag(8, request.keysOnly === true)
  w.numberUnlessZero(4, request.revision ?? 0)
  w.numberUnlessZero(3, request.limit ?? 0)
  if (request.rangeEnd !== undefined) w.string(2, request.rangeEnd)
  w.string(1, request.key)
}

function writeFailureGet(w: WireWriter, key: string): void {
  const failure = w.mark()
  const range = w.mark()
  w.string(1, key)
  w.message(1, range)
  w.message(3, failure)
}

function writeCompareMod(w: WireWriter, key: string, modRevision: number): void {
  const compare = w.mark()
  // Written even when it is 0: the field is a member of a union, and its absence would mean another member.
  w.number(6, modRevision)
  w.string(3, key)
  w.number(2, COMPARE_TARGET_MOD)
  w.message(1, compare)
}

function readHeader(r: Reader): number {
  let revision = 0
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 3) revision = r.number()
    else r.skip()
  }
  return revision
}

function readKeyValue(r: Reader): KeyValue {
  let key = ''
  let value: Buffer = NO_VALUE
  let modRevision = 0
  let createRevision = 0
  let version = 0
  let lease = NO_LEASE
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 1) key = r.string()
    else if (field === 2) createRevision = r.number()
    else if (field === 3) modRevision = r.number()
    else if (field === 4) version = r.number()
    else if (field === 5) value = r.bytes()
    else if (field === 6) lease = r.int64()
    else r.skip()
  }
  return { key, value, modRevision, createRevision, version, lease }
}

function readEvent(r: Reader): KvEvent {
  let type: KvEvent['type'] = 'put'
  let kv: KeyValue | undefined
  let prev: KeyValue | undefined
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 2) kv = r.message(readKeyValue)
    else if (field === 3) prev = r.message(readKeyValue)
    else if (field === 1) type = r.number() === 1 ? 'delete' : 'put'
    else r.skip()
  }
  if (kv === undefined) throw new RangeError('etcd: a watch event without a key')
  return { type, kv, prev }
}

function readRange(r: Reader): RangeResponse {
  let revision = 0
  const kvs: KeyValue[] = []
  let more = false
  let count = 0
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 2) kvs.push(r.message(readKeyValue))
    else if (field === 1) revision = r.message(readHeader)
    else if (field === 3) more = r.flag()
    else if (field === 4) count = r.number()
    else r.skip()
  }
  return { revision, kvs, more, count }
}

function readResponseOp(r: Reader): KeyValue | undefined {
  let kv: KeyValue | undefined
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 1) kv = r.message(readRange).kvs[0]
    else if (field === 3) kv = r.message(readDeleted)
    else r.skip()
  }
  return kv
}

function readDeleted(r: Reader): KeyValue | undefined {
  let kv: KeyValue | undefined
  for (let field = r.nextField(); field !== 0; field = r.nextField()) {
    if (field === 3) kv = r.message(readKeyValue)
    else r.skip()
  }
  return kv
}
