/**
 * Thread: any. The key-value contract on an etcd cluster: transactions and ranges over the lean channel, watches in
 * etcd-watch.ts, and what is rare (leases, compaction, status) in etcd-admin.ts. Constructing it connects to nothing.
 */

import { type Clock, systemClock } from '../../lib/clock.js'
import type { Dial } from '../../lib/egress/connect-tunnel.js'
import type { Random } from '../../lib/jitter.js'
import { type Logger, nullLogger } from '../../lib/logger.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import { isTooOld, StorageError } from '../contract/errors.js'
import {
  type CallOptions,
  type KeyValue,
  type KV,
  type KvGetResult,
  type KvListOptions,
  type KvListResult,
  type KvWatch,
  type KvWatchOptions,
  type KvWriteOptions,
  type KvWriteResult,
  type LeaseId,
  NO_LEASE,
  prefixEnd,
} from '../contract/kv.js'
import { ReplyTooLargeError } from '../grpc/grpc-error.js'
import { Caller } from './caller.js'
import type { ChannelSettings } from './channel.js'
import { CHANNEL_DEFAULTS, RECONNECT_DEFAULTS } from './channel-defaults.js'
import { Endpoints } from './endpoints.js'
import { EtcdAdmin } from './etcd-admin.js'
import { toStorageError } from './etcd-error.js'
import { EtcdWatch } from './etcd-watch.js'
import {
  decodeRange,
  decodeTxn,
  encodeOptimisticDelete,
  encodeOptimisticPut,
  encodeRange,
  NO_KEY,
  RANGE,
  type RangeRequest,
  type RangeResponse,
} from './messages.js'
import { withPreviousValues } from './previous-values.js'
import { MAX_REPLY_BYTES, RangePager } from './range-pager.js'
import type { TlsSource } from './tls-options.js'

export interface EtcdKVOptions {
  /** The servers of one cluster: `https://host:2379` or `http://…`. */
  readonly endpoints: readonly string[]
  readonly tls?: TlsSource | undefined
  /** How servers are connected to, when it is not directly. */
  readonly dial?: Dial | undefined
  readonly clock?: Clock
  readonly random?: Random
  readonly logger?: Logger
  /** The deadline of calls that state none. */
  readonly timeoutMs?: number
  readonly connectTimeoutMs?: number
  /** Time between two pings; etcd refuses more than one in five seconds. */
  readonly keepaliveIntervalMs?: number
  readonly keepaliveTimeoutMs?: number
  readonly backoffBaseMs?: number
  readonly backoffCapMs?: number
  /** Bytes of events that a watch may hold for a consumer that is slow; see etcd-watch.ts. */
  readonly watchBufferBytes?: number
  /** Is told of the draft of a write when the write is sent: etcd has no use for it. */
  readonly onDraft?: (key: string, value: Uint8Array, draft: RecordDraft) => void
}

/** Longer than etcd's own election timeout, so that a change of leader is waited out. */
const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_WATCH_BUFFER_BYTES = 1024 * 1024
/**
 * A list of the current state starts anew when its revision is compacted meanwhile; after so many attempts it fails.
 */
const LIST_ATTEMPTS = 3

const TXN = '/etcdserverpb.KV/Txn'

export class EtcdKV implements KV {
  readonly #endpoints: Endpoints
  readonly #caller: Caller
  readonly #admin: EtcdAdmin
  readonly #clock: Clock
  readonly #random: Random
  readonly #logger: Logger
  readonly #watchBufferBytes: number
  readonly #onDraft: EtcdKVOptions['onDraft']
  readonly #watches = new Set<EtcdWatch>()
  #compactedRevision = 0
  #closed = false

  constructor(options: EtcdKVOptions) {
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#logger = options.logger ?? nullLogger
    this.#onDraft = options.onDraft
    this.#watchBufferBytes = options.watchBufferBytes ?? DEFAULT_WATCH_BUFFER_BYTES
    const channel: ChannelSettings = {
      tls: options.tls,
      dial: options.dial,
      clock: this.#clock,
      connectTimeoutMs: options.connectTimeoutMs ?? CHANNEL_DEFAULTS.connectTimeoutMs,
      keepaliveIntervalMs: options.keepaliveIntervalMs ?? CHANNEL_DEFAULTS.keepaliveIntervalMs,
      keepaliveTimeoutMs: options.keepaliveTimeoutMs ?? CHANNEL_DEFAULTS.keepaliveTimeoutMs,
    }
    this.#endpoints = new Endpoints({
      urls: options.endpoints,
      channel,
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
      backoffBaseMs: options.backoffBaseMs ?? RECONNECT_DEFAULTS.backoffBaseMs,
      backoffCapMs: options.backoffCapMs ?? RECONNECT_DEFAULTS.backoffCapMs,
    })
    this.#caller = new Caller({ endpoints: this.#endpoints, clock: this.#clock, timeoutMs })
    this.#admin = new EtcdAdmin({
      endpoints: options.endpoints,
      caller: this.#caller,
      channel,
      timeoutMs,
      clock: this.#clock,
    })
  }

  async get(key: string, options?: CallOptions): Promise<KvGetResult> {
    const reply = await this.#range({ key }, options)
    return { kv: reply.kvs[0], revision: reply.revision }
  }

  async list(prefix: string, options: KvListOptions = {}): Promise<KvListResult> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#listPages(prefix, options)
      } catch (error) {
        const pinnedByUs = (options.revision ?? 0) === 0
        if (!(isTooOld(error) && pinnedByUs && attempt < LIST_ATTEMPTS)) throw error
      }
    }
  }

  async count(prefix: string, options?: CallOptions): Promise<number> {
    const reply = await this.#range({ key: prefix, rangeEnd: prefixEnd(prefix), countOnly: true }, options)
    return reply.count
  }

  optimisticPut(
    key: string,
    value: Uint8Array,
    expectedModRevision: number,
    options: KvWriteOptions = {},
  ): Promise<KvWriteResult> {
    const getOnFailure = options.getOnFailure ?? false
    const frame = encodeOptimisticPut(key, value, expectedModRevision, options.lease ?? NO_LEASE, getOnFailure)
    if (options.draft !== undefined) this.#onDraft?.(key, value, options.draft)
    return this.#txn(`put ${key}`, frame, options)
  }

  optimisticDelete(key: string, expectedModRevision: number, options: KvWriteOptions = {}): Promise<KvWriteResult> {
    const frame = encodeOptimisticDelete(key, expectedModRevision, options.getOnFailure ?? false)
    return this.#txn(`delete ${key}`, frame, options)
  }

  watch(options: KvWatchOptions): KvWatch {
    const watch = new EtcdWatch({
      watch: options,
      endpoints: this.#endpoints,
      clock: this.#clock,
      random: this.#random,
      logger: this.#logger,
      bufferBytes: this.#watchBufferBytes,
      currentRevision: () => this.currentRevision(),
      stateAt: (key, revision) => this.#stateAt(key, revision),
      completed: (batch) => withPreviousValues(batch, (key, revision) => this.#readAt(key, revision)),
      progressTrustedAt: (url) => this.#admin.progressTrusted(url),
      onCompacted: (revision) => this.#learnCompacted(revision),
      onClose: () => this.#watches.delete(watch),
    })
    this.#watches.add(watch)
    watch.start()
    return watch
  }

  async requestProgress(): Promise<void> {
    await Promise.all([...this.#watches].map((watch) => watch.requestProgress()))
  }

  /** Whether requestProgress leads to progress batches: older servers report progress too early, and are not asked. */
  progressTrusted(): Promise<boolean> {
    return this.#admin.progressTrustedEverywhere()
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    return this.#admin.grantLease(ttlSeconds, options)
  }

  /** How long a lease lasts and has left; remainingSeconds is -1 when it has ended. */
  leaseTimeToLive(lease: LeaseId): Promise<{ ttlSeconds: number; remainingSeconds: number }> {
    return this.#admin.leaseTimeToLive(lease)
  }

  async currentRevision(options?: CallOptions): Promise<number> {
    return (await this.#range({ key: NO_KEY, countOnly: true }, options)).revision
  }

  compactedRevision(): number {
    return this.#compactedRevision
  }

  async compact(revision: number, options?: CallOptions): Promise<void> {
    await this.#admin.compact(revision, options)
    this.#learnCompacted(revision)
  }

  databaseSizes(options?: CallOptions): Promise<{ endpoint: string; bytes: number }[]> {
    return this.#admin.databaseSizes(options)
  }

  close(): Promise<void> {
    this.#closed = true
    for (const watch of [...this.#watches]) watch.close()
    this.#endpoints.close()
    this.#admin.close()
    return Promise.resolve()
  }

  async #listPages(prefix: string, options: KvListOptions): Promise<KvListResult> {
    const rangeEnd = prefixEnd(prefix)
    const wanted = options.limit ?? 0
    const keysOnly = options.keysOnly ?? false
    const pager = new RangePager(keysOnly)
    const kvs: KeyValue[] = []
    let key = options.startKey ?? prefix
    let first: RangeResponse | undefined
    for (;;) {
      const revision = options.revision || (first?.revision ?? 0)
      const page = await this.#page({ key, rangeEnd, revision, keysOnly }, wanted === 0 ? 0 : wanted - kvs.length, {
        pager,
        options,
      })
      first ??= page
      for (const kv of page.kvs) kvs.push(kv)
      if (!page.more || (wanted > 0 && kvs.length >= wanted))
        return { kvs, count: first.count, more: page.more, revision: first.revision }
      key = `${kvs.at(-1)!.key}\0`
    }
  }

  async #page(
    request: RangeRequest,
    wanted: number,
    { pager, options }: { pager: RangePager; options: CallOptions },
  ): Promise<RangeResponse> {
    for (;;) {
      const limit = pager.limit(wanted)
      try {
        return await this.#range({ ...request, limit }, options, {
          maxReplyBytes: limit === 1 ? Number.POSITIVE_INFINITY : MAX_REPLY_BYTES,
          onReply: (keys, bytes) => pager.received(keys, bytes),
        })
      } catch (error) {
        if (!(error instanceof ReplyTooLargeError)) throw error
        pager.refused(limit, error.bytes)
      }
    }
  }

  async #range(
    request: RangeRequest,
    options: CallOptions = {},
    page?: { maxReplyBytes: number; onReply: (keys: number, bytes: number) => void },
  ): Promise<RangeResponse> {
    try {
      const reply = await this.#caller.read(RANGE, encodeRange(request), {
        ...options,
        ...(page && { maxReplyBytes: page.maxReplyBytes }),
      })
      const response = decodeRange(reply)
      page?.onReply(response.kvs.length, reply.length)
      // Nothing can be compacted beyond the newest revision: the store was restored from a backup.
      if (response.revision < this.#compactedRevision) this.#compactedRevision = 0
      return response
    } catch (error) {
      if (error instanceof ReplyTooLargeError) throw error
      const storageError = toStorageError(error, `range ${request.key}`)
      throw isTooOld(storageError) ? await this.#withCompactRevision(storageError, request.revision ?? 0) : storageError
    }
  }

  /**
   * The key at a revision; undefined also when the revision is compacted. Tries until it is known, because an event is
   * delivered once.
   */
  async #readAt(key: string, revision: number): Promise<KeyValue | undefined> {
    while (revision >= this.#compactedRevision && !this.#closed) {
      try {
        return decodeRange(await this.#caller.read(RANGE, encodeRange({ key, revision }))).kvs[0]
      } catch (error) {
        if (isTooOld(toStorageError(error, `range ${key}`))) this.#learnCompacted(revision + 1)
      }
    }
    return undefined
  }

  async #stateAt(key: string, revision: number): Promise<KeyValue | undefined | 'unknown'> {
    try {
      return decodeRange(await this.#caller.read(RANGE, encodeRange({ key, revision }))).kvs[0]
    } catch (error) {
      if (isTooOld(toStorageError(error, `range ${key}`))) return 'unknown'
      throw error
    }
  }

  async #txn(what: string, frame: Buffer, options: CallOptions): Promise<KvWriteResult> {
    try {
      return decodeTxn(await this.#caller.write(TXN, frame, options))
    } catch (error) {
      throw toStorageError(error, what)
    }
  }

  /** Adds the compacted revision to the error: a range does not tell it, but a watch from the same revision does. */
  async #withCompactRevision(error: StorageError, revision: number): Promise<StorageError> {
    if (this.#compactedRevision < revision) {
      const probe = this.watch({ key: NO_KEY, prefix: false, startRevision: revision })
      const timer = this.#clock.after(CHANNEL_DEFAULTS.connectTimeoutMs, () => probe.close())
      try {
        await probe.next()
      } catch (cancellation) {
        if (!isTooOld(cancellation)) throw cancellation
      } finally {
        timer.cancel()
        probe.close()
      }
    }
    return new StorageError('too-old', error.message, {
      resourceVersion: revision,
      compactRevision: this.#compactedRevision,
      cause: error,
    })
  }

  #learnCompacted(revision: number): void {
    if (revision > this.#compactedRevision) this.#compactedRevision = revision
  }
}
