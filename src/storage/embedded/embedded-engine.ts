/**
 * Thread: owner. The embedded engine: what etcd is elsewhere, in a folder. Revisions, compare-and-swap, ranges now and
 * at older revisions, a durable event log that watches start from, leases, compaction, group commit.
 *
 * Everything readable comes from one Snapshot, that of the last synced commit; a commit replaces it in one step.
 * Deadlines (`timeoutMs`) do not apply: nothing here waits for anybody but the disk.
 */
import { type Clock, systemClock } from '../../lib/clock.js'
import { type Logger, nullLogger } from '../../lib/logger.js'
import type { StoreCosts } from '../../protocol/main-owner.js'
import { StorageError } from '../contract/errors.js'
import {
  type CallOptions,
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
} from '../contract/kv.js'
import { FORMAT_VERSION } from './data-directory.js'
import { EmbeddedWatch, type WatchSource } from './embedded-watch.js'
import { type EngineFolder, openEngineFolder } from './engine-folder.js'
import { GroupCommit } from './group-commit.js'
import { countNow, listRange } from './history.js'
import { LeaseExpirer } from './lease-expirer.js'
import { RecentEvents } from './recent-events.js'
import type { DamageListener, Snapshot } from './snapshot.js'
import { MAX_KEY_BYTES } from './tables.js'
import type { WriteBatch } from './write-batch.js'

/** The largest value: more than a client may send in one request (3 MiB), encoded and encrypted. */
const MAX_VALUE_BYTES = 4 * 1024 * 1024
/**
 * How many entries are looked at, and how many keys of a lease are removed, in one commit: a few milliseconds of the
 * writer's time.
 */
const PRUNE_ENTRIES_A_COMMIT = 256
const LEASED_KEYS_A_COMMIT = 256
const PROGRESS_INTERVAL_MS = 5000

export interface EmbeddedEngineOptions {
  /**
   * The folder of the store. Without it the store is in memory (a folder on tmpfs where there is one), and gone with
   * the process.
   */
  readonly dataDir?: string
  readonly clock?: Clock
  readonly logger?: Logger
  /** How often a watch with `progressNotify` reports while nothing happens. */
  readonly progressIntervalMs?: number
  /** Is told of every read that found a record damaged; the read fails with `corrupt-object`. */
  readonly onDamage?: DamageListener
  /** Told of each commit, once it is on the disk: how many writes were in it, and how long it took. */
  readonly onSynced?: (writes: number, durationMs: number) => void
}

export class EmbeddedEngine implements KV {
  readonly #folder: EngineFolder
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #commits: GroupCommit
  readonly #leases: LeaseExpirer
  readonly #watches = new Set<EmbeddedWatch>()
  readonly #recent: RecentEvents
  readonly #progressIntervalMs: number
  #snapshot: Snapshot
  #pruning = false
  #closing: Promise<void> | undefined

  private constructor(folder: EngineFolder, options: EmbeddedEngineOptions) {
    this.#folder = folder
    this.#snapshot = folder.snapshot
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? nullLogger
    this.#progressIntervalMs = options.progressIntervalMs ?? PROGRESS_INTERVAL_MS
    this.#recent = new RecentEvents(this.#snapshot.state.revision)
    this.#commits = new GroupCommit({
      database: folder.database,
      logger: this.#logger,
      clock: this.#clock,
      onSynced: options.onSynced ?? (() => undefined),
      snapshot: () => this.#snapshot,
      onCommit: (batch) => this.#publish(batch),
    })
    this.#leases = new LeaseExpirer({
      clock: this.#clock,
      logger: this.#logger,
      revoke: (lease) => this.#revoke(lease),
    })
  }

  /** Throws DataDirectoryError when the folder is in use, foreign, of another format, or damaged. */
  static async open(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
    const folder = await openEngineFolder(options.dataDir, options.onDamage ?? (() => undefined))
    if (folder.upgradedFrom !== undefined)
      options.logger?.info(
        { dataDir: folder.dataDir, from: folder.upgradedFrom, to: FORMAT_VERSION },
        'the data directory is in a newer format from now on; "keelson data backup" and "keelson data restore --format" lead back',
      )
    const engine = new EmbeddedEngine(folder, options)
    engine.#start()
    return engine
  }

  #start(): void {
    this.#leases.start(this.#snapshot.leases().map(({ lease, record }) => ({ lease, expiresAtMs: record.expiresAtMs })))
    this.#prune()
  }

  async get(key: string, options?: CallOptions): Promise<KvGetResult> {
    const snapshot = this.#readable(options)
    return {
      kv: Buffer.byteLength(key) > MAX_KEY_BYTES || key === '' ? undefined : snapshot.keyValue(key),
      revision: snapshot.state.revision,
    }
  }

  async list(prefix: string, options: KvListOptions = {}): Promise<KvListResult> {
    const snapshot = this.#readable(options).retain()
    try {
      return await listRange(snapshot, prefix, options)
    } finally {
      snapshot.release()
    }
  }

  async count(prefix: string, options?: CallOptions): Promise<number> {
    return countNow(this.#readable(options), prefix)
  }

  async optimisticPut(
    key: string,
    value: Uint8Array,
    expectedModRevision: number,
    options: KvWriteOptions = {},
  ): Promise<KvWriteResult> {
    checkKey(key)
    if (value.length > MAX_VALUE_BYTES)
      throw new StorageError('value-too-large', `a value of ${value.length} bytes is over the limit`, { key })
    const { lease = NO_LEASE, getOnFailure = false, draft } = options
    return this.#write(value.length, options, (batch) =>
      batch.put({ key, value, expectedModRevision, lease, getOnFailure, draft }),
    )
  }

  async optimisticDelete(
    key: string,
    expectedModRevision: number,
    options: KvWriteOptions = {},
  ): Promise<KvWriteResult> {
    checkKey(key)
    const { getOnFailure = false } = options
    return this.#write(0, options, (batch) => batch.delete({ key, expectedModRevision, getOnFailure }))
  }

  watch(options: KvWatchOptions): KvWatch {
    return this.openWatch(options)
  }

  /** Opens a watch whose progress can be asked for alone, for whoever serves the watches of several clients. */
  openWatch(options: KvWatchOptions): EmbeddedWatch {
    const watch = new EmbeddedWatch(this.#watchSource(), options)
    if (this.#closing !== undefined) watch.close()
    else {
      this.#watches.add(watch)
      watch.start()
    }
    return watch
  }

  get openWatches(): number {
    return this.#watches.size
  }

  async requestProgress(): Promise<void> {
    for (const watch of this.#watches) watch.requestProgress()
  }

  async grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    if (!(ttlSeconds > 0)) throw new StorageError('invalid-request', `a lease of ${ttlSeconds} seconds`)
    const expiresAtMs = this.#clock.now() + ttlSeconds * 1000
    const lease = await this.#write(0, options, (batch) => batch.grantLease({ ttlSeconds, expiresAtMs }))
    this.#leases.add(lease, expiresAtMs)
    return lease
  }

  async currentRevision(options?: CallOptions): Promise<number> {
    return this.#readable(options).state.revision
  }

  compactedRevision(): number {
    return this.#snapshot.state.compacted
  }

  /** Resolves when the compaction is decided, durably; the log shrinks in the background, also after a restart. */
  async compact(revision: number, options?: CallOptions): Promise<void> {
    await this.#write(0, options, (batch) => batch.compact(revision))
    this.#prune()
  }

  async databaseSizes(options?: CallOptions): Promise<{ endpoint: string; bytes: number }[]> {
    this.#readable(options)
    return [{ endpoint: this.#folder.dataDir, bytes: this.#folder.database.fileBytes }]
  }

  /** Why writes fail, for readiness; undefined when they succeed as far as is known. */
  writeProblem(): { readonly error: StorageError; readonly isFinal: boolean } | undefined {
    return this.#commits.problem()
  }

  /** What the file is used for. */
  costs(): StoreCosts {
    const { compacted, pruned } = this.#snapshot.state
    const { fileBytes, freeBytes, tables } = this.#folder.database.usage()
    const historyEntries = tables['log']!.entries - tables['keys']!.entries
    return { fileBytes, freeBytes, tables, historyEntries, compactedRevision: compacted, prunedRevision: pruned }
  }

  /** How far the log has been pruned, and what it holds; for metrics and tests. */
  async storageStats(): Promise<{ prunedRevision: number; logEntries: number }> {
    const { state, tables, transaction } = this.#readable(undefined)
    return { prunedRevision: state.pruned, logEntries: tables.log.getKeysCount({ transaction }) }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#leases.stop()
    await this.#commits.stop()
    for (const watch of [...this.#watches]) watch.close()
    this.#snapshot.release()
    await this.#folder.close()
  }

  #readable(options: CallOptions | undefined): Snapshot {
    if (options?.signal?.aborted) throw aborted()
    if (this.#closing !== undefined) throw new StorageError('not-ready', 'the embedded engine is closed')
    return this.#snapshot
  }

  #write<T>(bytes: number, options: CallOptions | undefined, apply: (batch: WriteBatch) => T): Promise<T> {
    const signal = options?.signal
    if (signal === undefined) return this.#commits.enqueue(bytes, apply)
    return this.#commits.enqueue(bytes, (batch) => {
      // This is the last moment at which a cancelled write can be given up without a trace.
      if (signal.aborted) throw aborted()
      return apply(batch)
    })
  }

  /** Makes a batch visible to everybody, once it is on the disk. */
  #publish(batch: WriteBatch): void {
    const previous = this.#snapshot
    this.#snapshot = this.#folder.database.pin(batch.state)
    previous.release()
    let passed = batch.state.revision + 1
    for (const watch of this.#watches) passed = Math.min(passed, watch.nextRevision)
    this.#recent.append(batch.events, passed)
    for (const watch of this.#watches) watch.wake()
  }

  async #revoke(lease: LeaseId): Promise<void> {
    for (let done = false; !done; )
      done = await this.#commits.enqueue(0, (batch) => batch.revokeLease(lease, LEASED_KEYS_A_COMMIT))
  }

  #prune(): void {
    const { pruned, compacted } = this.#snapshot.state
    if (this.#pruning || pruned >= compacted) return
    this.#pruning = true
    const step = (): Promise<boolean> => this.#commits.enqueue(0, (batch) => batch.prune(PRUNE_ENTRIES_A_COMMIT))
    const loop = async (): Promise<void> => {
      while ((await step()) && this.#closing === undefined);
    }
    loop()
      .catch((error: unknown) => {
        // The compaction stands: the next one, or the next start, prunes what this one left.
        this.#logger.warn({ err: error }, 'pruning the event log stopped early')
      })
      .finally(() => {
        this.#pruning = false
      })
  }

  #watchSource(): WatchSource {
    const engine = this
    return {
      get snapshot() {
        return engine.#snapshot
      },
      recent: this.#recent,
      clock: this.#clock,
      progressIntervalMs: this.#progressIntervalMs,
      onClose: (watch) => this.#watches.delete(watch),
    }
  }
}

function checkKey(key: string): void {
  const bytes = Buffer.byteLength(key)
  if (bytes === 0 || bytes > MAX_KEY_BYTES)
    throw new StorageError('invalid-request', `a key must have 1 to ${MAX_KEY_BYTES} bytes, not ${bytes}`)
}

const aborted = (): StorageError => new StorageError('unreachable', 'the caller gave up before anything was done')
