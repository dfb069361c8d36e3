/**
 * Thread: owner. One revision, one list, one watch for everything that one storage cluster holds under our prefix.
 *
 *   listing ──at revision R──▶ following ──too old──▶ listing
 *                                 │  ▲
 *                    stream failed└──┘ from the clock's next revision
 *
 * The list is paged, a few resources beside each other, all at one pinned revision. Each page goes into its resource's arena at once,
 * so that no more than a few pages are on the heap at a time; readers see the new state when it is complete, and all become ready
 * together when the clock has moved to R. (etcd counts all that follows in the range for every page: pages of the whole prefix one
 * after another took four times as long.) Nothing is compared with what was there before: cursors and windows older
 * than R expire.
 *
 * A store that went back (restored from a backup) is noticed by the fence, by the watch when it resumes, and by the
 * list itself. Then every arena is closed, the clock is set back, and all is listed anew: watchers get 410, nobody is
 * shown a state of before as if it were consistent.
 *
 * While it lists again the clock stands still. What is in memory stays readable as the old state it is until it is
 * replaced; whoever needs more (RevisionFence) sees `following` and reads the storage.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.js'
import { Deferred } from '../../lib/deferred.js'
import { backoff, type Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import type { ArenaCosts, MemoryReport } from '../../protocol/main-owner.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import { isTooOld, StorageError } from '../../storage/contract/errors.js'
import type { KeyValue, KV, KvWatch } from '../../storage/contract/kv.js'
import { logFailure } from '../../storage/contract/log-failure.js'
import type { ArenaEntry, ClockWriter } from '../memory/shared-memory.js'
import { CachedResource, type StatusListener } from './cached-resource.js'
import type { CacherMetrics } from './cacher-metrics.js'
import { HandedDrafts } from './handed-drafts.js'
import { listPages } from './list-pages.js'
import { PrefixRouter } from './prefix-router.js'
import type { ResourceRegistration, ResourceStatus } from './resource-registration.js'
import { StreamApplier } from './stream-applier.js'

export interface ReflectorOptions {
  readonly kv: KV
  /** The prefix of all keys, with the slash at the end: `/registry/`. */
  readonly prefix: string
  readonly revisionClock: ClockWriter
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: Random
  readonly pageSize?: number
  readonly metrics: CacherMetrics
  readonly onStatus?: StatusListener
  /** Called when `following` changes. */
  readonly onFollowing?: (following: boolean) => void
  /** Called when the store went back to an older revision, after the clock was set back to it. */
  readonly onRewind?: () => void
}

/** The objects of a page, as many as Kubernetes asks for; 500 objects of 4 KB make a page of 2 MB. */
const DEFAULT_PAGE_SIZE = 500
/** A resource of more pages than this is decoded by other threads too: they take longer to start than fewer pages take. */
const LARGE_PAGES = 8
/** So many pages of a large resource may be decoded at the same time, and wait for one before them. */
const PAGES_AHEAD = 4
/** So many resources are listed at the same time. */
const LIST_LANES = 4
const BACKOFF_BASE_MS = 100
const BACKOFF_CAP_MS = 10_000
/** A fallen resource is tried again even when nothing changed: a key service may be back, a slow reader may be gone. */
const REFILL_BASE_MS = 30_000
const REFILL_CAP_MS = 600_000

/** An object of a list, and what memory keeps of it. */
interface Decoded {
  readonly kv: KeyValue
  readonly draft: RecordDraft | Error
}

export class Reflector {
  readonly #options: ReflectorOptions
  readonly #random: Random
  readonly #resources = new Map<string, CachedResource>()
  readonly #router = new PrefixRouter<CachedResource>()
  readonly handed = new HandedDrafts()
  readonly #applier: StreamApplier
  readonly #abort = new AbortController()
  readonly #synced = new Deferred<void>()
  readonly #fills = new Set<Promise<void>>()
  readonly #fallen = new Set<CachedResource>()
  readonly #refilling = new Set<CachedResource>()
  #running: Promise<void> | undefined
  #watch: KvWatch | undefined
  #following = false
  #mustList = true

  constructor(options: ReflectorOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
    this.#applier = new StreamApplier({
      router: this.#router,
      clock: options.revisionClock,
      handed: this.handed,
    })
    // Nobody has to wait for `synced`: its rejection must not count as unhandled.
    this.#synced.promise.catch(() => undefined)
  }

  /** Whether the clock follows the store. It does not during a list, and while the watch is opened again. */
  get following(): boolean {
    return this.#following
  }

  /** Resolves after the first list; rejects when the reflector is stopped before. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  status(resource: string): ResourceStatus | undefined {
    return this.#resources.get(resource)?.status
  }

  /** The memory of each resource that has an arena, by name. */
  memory(): Map<string, MemoryReport> {
    const reports = new Map<string, MemoryReport>()
    for (const [name, resource] of this.#resources) {
      const report = resource.memory()
      if (report !== undefined) reports.set(name, report)
    }
    return reports
  }

  /** What the memory of each resource is, by name. */
  costs(): Map<string, MemoryReport & ArenaCosts> {
    const costs = new Map<string, MemoryReport & ArenaCosts>()
    for (const [name, resource] of this.#resources) {
      const [report, details] = [resource.memory(), resource.costs()]
      if (report !== undefined && details !== undefined) costs.set(name, { ...report, ...details })
    }
    return costs
  }

  /** The store has forgotten what was before the revision (ArenaWriter.forget). */
  forget(revision: number): void {
    for (const resource of this.#resources.values()) resource.forget(revision)
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    this.#watch?.close()
    this.#synced.reject(new StorageError('not-ready', 'the watch cache was stopped'))
    await this.#running
    await Promise.all(this.#fills)
    for (const resource of this.#resources.values()) resource.close()
  }

  /**
   * Adds a resource. On a running reflector it resolves when the resource is ready, has fallen back to its storage, or
   * was removed.
   */
  async addResource(registration: ResourceRegistration): Promise<void> {
    const { resource: name, keyPrefix } = registration
    if (this.#resources.has(name)) throw new RangeError(`the resource ${name} is cached already`)
    const { logger, metrics, onStatus } = this.#options
    const onResourceStatus = (_: string, status: ResourceStatus): void => {
      if (status.state === 'fallen') this.#fallen.add(resource)
      else this.#fallen.delete(resource)
      onStatus?.(name, status)
    }
    const resource = new CachedResource(registration, logger, onResourceStatus, metrics.events(name))
    this.#router.add(keyPrefix, resource)
    this.#resources.set(name, resource)
    // While the reflector does not follow the store, the resource is taken in by the list that is under way or comes
    // next.
    if (this.#following) await this.#track(this.#fill(resource))
  }

  /** Lists everything again, because memory can no longer be trusted to follow the store. */
  relist(reason: string): void {
    if (this.#mustList || this.#stopped) return
    this.#options.logger.warn({ reason }, 'the watch cache has to list again')
    this.#mustList = true
    this.#setFollowing(false)
    this.#watch?.close()
  }

  removeResource(name: string): void {
    const resource = this.#resources.get(name)
    if (resource === undefined) return
    this.#resources.delete(name)
    this.#router.remove(resource.registration.keyPrefix)
    resource.close()
  }

  get #stopped(): boolean {
    return this.#abort.signal.aborted
  }

  async #run(): Promise<void> {
    const { logger, revisionClock } = this.#options
    let attempt = 0
    while (!this.#stopped) {
      try {
        if (this.#mustList || (await this.#wentBack())) await this.#list()
        this.#mustList = false
        await this.#follow(revisionClock.revision() + 1, () => {
          attempt = 0
        })
      } catch (error) {
        if (this.#stopped) return
        this.#mustList ||= isTooOld(error)
        logFailure(
          logger,
          error,
          { attempt, mustList: this.#mustList },
          this.#mustList ? 'the watch cache lists again' : 'the watch is opened again',
        )
      }
      this.#setFollowing(false)
      if (!this.#stopped) await this.#pause(backoff(attempt++, BACKOFF_BASE_MS, BACKOFF_CAP_MS, this.#random))
    }
  }

  async #wentBack(): Promise<boolean> {
    const { kv, revisionClock } = this.#options
    const seen = revisionClock.revision()
    return (await kv.currentRevision({ signal: this.#abort.signal })) < seen
  }

  /** Replaces every resource with the state at one revision, and moves the clock there. */
  async #list(): Promise<void> {
    const { kv, revisionClock } = this.#options
    const pending: CachedResource[] = []
    for (const resource of this.#resources.values()) {
      const { status } = resource
      if (status.state === 'fallen' && status.reason === 'memory-limit') continue
      resource.beginFill({ keptUp: false })
      pending.push(resource)
    }
    const listed = [...pending]
    const revision = await kv.currentRevision({ signal: this.#abort.signal })
    if (revision < revisionClock.revision()) this.#rewind(revision)
    const lane = async (): Promise<void> => {
      for (let resource = pending.shift(); resource !== undefined; resource = pending.shift()) {
        await this.#listResource(resource, revision)
        if (resource.status.state === 'filling') resource.replace(revision)
      }
    }
    const lanes = await Promise.allSettled(Array.from({ length: LIST_LANES }, lane))
    for (const outcome of lanes) if (outcome.status === 'rejected') throw outcome.reason
    revisionClock.advance(revision)
    for (const resource of listed) resource.filled(revision)
  }

  /** Drops all memory, because the store was restored from a backup: memory holds neither its state nor its history. */
  #rewind(revision: number): void {
    const { revisionClock, logger, onRewind } = this.#options
    logger.error(
      { revision, before: revisionClock.revision() },
      'the store went back to an older revision: everything is listed anew, and watches begin again',
    )
    for (const resource of this.#resources.values()) resource.reset()
    this.handed.clear()
    revisionClock.rewind(revision)
    onRewind?.()
  }

  /**
   * Lists one resource at a revision, into its memory. It breaks off when the resource is no longer being filled by this list: then
   * the entries are of no use.
   */
  async #listResource(resource: CachedResource, revision: number): Promise<void> {
    const { kv, pageSize = DEFAULT_PAGE_SIZE } = this.#options
    const { generation } = resource
    const prefix = resource.registration.keyPrefix
    const isOver = (): boolean => resource.generation !== generation || resource.status.state !== 'filling'
    const takeIn = (decoded: readonly Decoded[] | undefined): void => {
      if (decoded === undefined || isOver()) return
      const entries: ArenaEntry[] = []
      for (const { kv, draft } of decoded) {
        if (draft instanceof Error) resource.cannotRead(draft, kv.key)
        else entries.push({ key: kv.key, draft, modRevision: kv.modRevision, createRevision: kv.createRevision })
      }
      if (!isOver()) resource.takeIn(entries)
    }
    const pages: Promise<readonly Decoded[]>[] = []
    let isLarge = false
    for await (const page of listPages({ kv, prefix, pageSize, revision, signal: this.#abort.signal })) {
      isLarge ||= resource.registration.draftMakers !== undefined && page.count > LARGE_PAGES * pageSize
      pages.push(this.#decode(page.kvs, resource, isLarge))
      // Other threads hand their pages over in a turn of the loop. The store may answer without one.
      if (isLarge) await nextTurn()
      if (pages.length > (isLarge ? PAGES_AHEAD : 0)) takeIn(await pages.shift())
      if (isOver()) return
    }
    for (const page of pages) takeIn(await page)
  }

  /** The objects of a page that are the resource's, in order. Never rejects. */
  async #decode(kvs: readonly KeyValue[], resource: CachedResource, isLarge: boolean): Promise<readonly Decoded[]> {
    // Keys below a longer registered prefix belong to another resource.
    const own = kvs.filter((kv) => this.#router.route(kv.key) === resource)
    const drafts = (isLarge ? resource.decodeElsewhere(own) : undefined) ?? own.map((kv) => resource.decode(kv))
    if (drafts instanceof Promise) return (await drafts).map((draft, i) => ({ kv: own[i]!, draft }))
    // Most drafts are no promises; an await for each would cost a turn of the loop an object.
    const decoded = drafts.some((draft) => draft instanceof Promise) ? await Promise.all(drafts) : drafts
    return (decoded as (RecordDraft | Error)[]).map((draft, i) => ({ kv: own[i]!, draft }))
  }

  /** Applies the watch until it ends. Rejects with `too-old` when everything has to be listed again. */
  async #follow(startRevision: number, established: () => void): Promise<void> {
    const { kv, prefix } = this.#options
    const watch = kv.watch({ key: prefix, prefix: true, startRevision, progressNotify: true })
    this.#watch = watch
    try {
      await watch.established
      if (this.#stopped) return
      established()
      this.#setFollowing(true)
      this.#synced.resolve()
      this.#fillLatecomers()
      for (;;) {
        const batch = await watch.next()
        if (batch === undefined || this.#stopped) return
        if (batch.events.length === 0) this.#options.metrics.progress()
        const waited = this.#applier.apply(batch)
        if (waited !== undefined) await waited
        if (this.#fallen.size > 0) this.#scheduleRefills()
      }
    } finally {
      watch.close()
    }
  }

  /** Fills resources that were added during the list, and those whose last fill was cut off. */
  #fillLatecomers(): void {
    for (const resource of this.#resources.values()) {
      if (resource.status.state === 'filling') void this.#track(this.#fill(resource))
    }
    this.#scheduleRefills()
  }

  #scheduleRefills(): void {
    for (const resource of [...this.#fallen]) {
      if (resource.repaired) void this.#track(this.#fill(resource))
      else if (!this.#refilling.has(resource)) void this.#track(this.#refillLater(resource))
    }
  }

  async #refillLater(resource: CachedResource): Promise<void> {
    this.#refilling.add(resource)
    for (let attempt = 0; resource.fallen && !this.#stopped; attempt++) {
      await this.#pause(backoff(attempt, REFILL_BASE_MS, REFILL_CAP_MS, this.#random))
      if (resource.fallen && this.#following) await this.#fill(resource)
    }
    this.#refilling.delete(resource)
  }

  /**
   * Fills one resource while the stream goes on: with its state at the clock's revision, then with what the stream
   * brought since. Gives up silently when a relist, a removal or a stop overtakes it; the relist takes the resource in.
   */
  async #fill(resource: CachedResource): Promise<void> {
    const { revisionClock, logger } = this.#options
    const { resource: name } = resource.registration
    for (let attempt = 0; !this.#stopped && this.#following && !resource.closed; attempt++) {
      const generation = resource.beginFill({ keptUp: true })
      const revision = revisionClock.revision()
      const overtaken = (): boolean => resource.generation !== generation || resource.status.state !== 'filling'
      try {
        await this.#listResource(resource, revision)
        if (resource.status.state !== 'filling') return
        if (overtaken()) continue
        resource.replace(revision)
        resource.filled(revision)
        return
      } catch (error) {
        if (this.#stopped || resource.closed) return
        logFailure(logger, error, { resource: name, attempt }, 'a resource could not be listed; it is tried again')
        await this.#pause(backoff(attempt, BACKOFF_BASE_MS, BACKOFF_CAP_MS, this.#random))
        if (resource.generation !== generation) return
      }
    }
  }

  #setFollowing(following: boolean): void {
    if (this.#following === following) return
    this.#following = following
    this.#options.onFollowing?.(following)
  }

  #track(work: Promise<void>): Promise<void> {
    this.#fills.add(work)
    return work.finally(() => this.#fills.delete(work))
  }

  /** Waits between two attempts; the pause ends early when the reflector is stopped. */
  #pause(delayMs: number): Promise<void> {
    const { signal } = this.#abort
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      const timer = this.#options.clock.after(delayMs, done)
      signal.addEventListener('abort', done)
      function done(): void {
        timer.cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
    })
  }
}
