import type { Clock } from '#keelson/lib/clock.js'
import { StorageError } from '#keelson/storage/contract/errors.js'
import {
  type KeyValue,
  type KvEvent,
  type KvGetResult,
  type KvListOptions,
  type KvListResult,
  type KvWatch,
  type KvWatchBatch,
  type KvWatchOptions,
  type KvWriteOptions,
  type KvWriteResult,
  type LeaseId,
  NO_LEASE,
} from '#keelson/storage/contract/kv.js'
import type { LocalKV, LocalWatch } from '#keelson/storage/contract/local-kv.js'

/**
 * The key-value contract in a few maps, with etcd's rules: fast, and a second opinion on what the real ones do.
 * Keys are compared as JavaScript strings, which is the order of their bytes for the ASCII keys that tests use.
 */
export class MemoryKV implements LocalKV {
  readonly #clock: Clock
  #revision = 1
  #compacted = 0
  #versions = new Map<string, { revision: number; kv: KeyValue | undefined }[]>()
  #batches: KvWatchBatch[] = []
  #leases = new Map<LeaseId, Set<string>>()
  #nextLease = 1n
  #watches = new Set<MemoryWatch>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async get(key: string): Promise<KvGetResult> {
    return { kv: this.#at(key, this.#revision), revision: this.#revision }
  }

  async list(prefix: string, options: KvListOptions = {}): Promise<KvListResult> {
    const { startKey = prefix, limit = 0, keysOnly = false } = options
    const revision = options.revision || this.#revision
    if (revision > this.#revision) {
      throw new StorageError('too-large', `revision ${revision} is not there yet`, { currentRevision: this.#revision })
    }
    this.#checkCompacted(revision)
    const found = [...this.#versions.keys()]
      .filter((key) => key.startsWith(prefix) && key >= startKey)
      .sort()
      .flatMap((key) => this.#at(key, revision) ?? [])
    const kvs = (limit > 0 ? found.slice(0, limit) : found).map((kv) =>
      keysOnly ? { ...kv, value: new Uint8Array(0) } : kv,
    )
    return { kvs, count: found.length, more: kvs.length < found.length, revision: this.#revision }
  }

  async count(prefix: string): Promise<number> {
    return (await this.list(prefix)).count
  }

  async optimisticPut(
    key: string,
    value: Uint8Array,
    expectedModRevision: number,
    options: KvWriteOptions = {},
  ): Promise<KvWriteResult> {
    const prev = this.#at(key, this.#revision)
    if ((prev?.modRevision ?? 0) !== expectedModRevision) return this.#refused(prev, options)
    const { lease = NO_LEASE } = options
    if (lease !== NO_LEASE && !this.#leases.has(lease)) throw new StorageError('unreachable', 'no such lease')
    const modRevision = this.#revision + 1
    const createRevision = prev?.createRevision ?? modRevision
    const kv = { key, value, modRevision, createRevision, version: (prev?.version ?? 0) + 1, lease }
    if (prev !== undefined) this.#leases.get(prev.lease)?.delete(key)
    this.#leases.get(lease)?.add(key)
    this.#commit([{ type: 'put', kv, prev, ...(options.draft === undefined ? {} : { draft: options.draft }) }])
    return { succeeded: true, revision: modRevision, kv: undefined }
  }

  async optimisticDelete(
    key: string,
    expectedModRevision: number,
    options: KvWriteOptions = {},
  ): Promise<KvWriteResult> {
    const prev = this.#at(key, this.#revision)
    if (prev === undefined || prev.modRevision !== expectedModRevision) return this.#refused(prev, options)
    this.#delete([prev])
    return { succeeded: true, revision: this.#revision, kv: prev }
  }

  watch(options: KvWatchOptions): KvWatch {
    return this.openWatch(options)
  }

  openWatch(options: KvWatchOptions): LocalWatch {
    const watch = new MemoryWatch(options, this)
    this.#watches.add(watch)
    return watch
  }

  async requestProgress(): Promise<void> {
    for (const watch of this.#watches) watch.requestProgress()
  }

  async grantLease(ttlSeconds: number): Promise<LeaseId> {
    const lease = this.#nextLease++
    this.#leases.set(lease, new Set())
    this.#clock.after(ttlSeconds * 1000, () => {
      const keys = [...(this.#leases.get(lease) ?? [])]
      this.#leases.delete(lease)
      this.#delete(keys.flatMap((key) => this.#at(key, this.#revision) ?? []))
    })
    return lease
  }

  async currentRevision(): Promise<number> {
    return this.#revision
  }

  compactedRevision(): number {
    return this.#compacted
  }

  async compact(revision: number): Promise<void> {
    this.#checkCompacted(revision + 1)
    if (revision > this.#revision) throw new StorageError('too-large', 'a compaction in the future')
    this.#compacted = revision
    for (const [key, versions] of this.#versions) {
      const first = versions.findLastIndex((version) => version.revision <= revision)
      const kept = versions.slice(Math.max(first, 0)).filter((v) => v.kv !== undefined || v.revision > revision)
      if (kept.length > 0) this.#versions.set(key, kept)
      else this.#versions.delete(key)
    }
    this.#batches = this.#batches.filter((batch) => batch.revision >= revision)
    for (const watch of this.#watches) watch.wake()
  }

  async databaseSizes(): Promise<{ endpoint: string; bytes: number }[]> {
    return [{ endpoint: 'memory', bytes: 0 }]
  }

  async close(): Promise<void> {
    for (const watch of this.#watches) watch.close()
  }

  /** For MemoryWatch: the first batch at or after a revision. */
  batchFrom(revision: number): KvWatchBatch | undefined {
    if (revision < this.#compacted) {
      throw new StorageError('too-old', `revision ${revision} is compacted`, { compactRevision: this.#compacted })
    }
    return this.#batches.find((batch) => batch.revision >= revision)
  }

  get revision(): number {
    return this.#revision
  }

  forget(watch: MemoryWatch): void {
    this.#watches.delete(watch)
  }

  #at(key: string, revision: number): KeyValue | undefined {
    return this.#versions.get(key)?.findLast((version) => version.revision <= revision)?.kv
  }

  #refused(found: KeyValue | undefined, options: KvWriteOptions): KvWriteResult {
    return { succeeded: false, revision: this.#revision, kv: options.getOnFailure ? found : undefined }
  }

  #delete(kvs: readonly KeyValue[]): void {
    if (kvs.length === 0) return
    const modRevision = this.#revision + 1
    for (const kv of kvs) this.#leases.get(kv.lease)?.delete(kv.key)
    this.#commit(
      kvs.map((prev) => ({
        type: 'delete' as const,
        kv: { key: prev.key, value: new Uint8Array(0), modRevision, createRevision: 0, version: 0, lease: NO_LEASE },
        prev,
      })),
    )
  }

  #commit(events: readonly KvEvent[]): void {
    const revision = ++this.#revision
    for (const { type, kv } of events) {
      const versions = this.#versions.get(kv.key) ?? []
      versions.push({ revision, kv: type === 'put' ? kv : undefined })
      this.#versions.set(kv.key, versions)
    }
    this.#batches.push({ events, revision })
    for (const watch of this.#watches) watch.wake()
  }

  #checkCompacted(revision: number): void {
    if (revision < this.#compacted) {
      throw new StorageError('too-old', `revision ${revision} is compacted`, { compactRevision: this.#compacted })
    }
  }
}

class MemoryWatch implements LocalWatch {
  readonly established: Promise<void>
  readonly #options: KvWatchOptions
  readonly #kv: MemoryKV
  #nextRevision: number
  #progressWanted = false
  #closed = false
  #wake: (() => void) | undefined

  constructor(options: KvWatchOptions, kv: MemoryKV) {
    this.#options = options
    this.#kv = kv
    this.#nextRevision = options.startRevision || kv.revision + 1
    this.established = Promise.resolve()
    options.signal?.addEventListener('abort', () => this.close())
  }

  async next(): Promise<KvWatchBatch | undefined> {
    for (;;) {
      if (this.#closed) return undefined
      const batch = this.#kv.batchFrom(this.#nextRevision)
      if (batch !== undefined) {
        this.#nextRevision = batch.revision + 1
        const events = batch.events.filter(({ kv }) => this.#concerns(kv.key))
        if (events.length > 0) return { events, revision: batch.revision }
      } else if (this.#progressWanted) {
        this.#progressWanted = false
        return { events: [], revision: this.#kv.revision }
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  wake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  requestProgress(): void {
    this.#progressWanted = true
    this.wake()
  }

  close(): void {
    this.#closed = true
    this.#kv.forget(this)
    this.wake()
  }

  #concerns(key: string): boolean {
    return this.#options.prefix ? key.startsWith(this.#options.key) : key === this.#options.key
  }
}
