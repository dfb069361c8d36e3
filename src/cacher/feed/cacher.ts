/**
 * Thread: owner. The watch cache of one storage cluster: its memory, its clock, the reflector that fills it, the fence
 * before linearizable reads, and the readers that are attached.
 *
 *   stopped ──start()──▶ filling ──first list──▶ following ◀──▶ filling (relist)         any ──stop()──▶ stopped
 */
import { setMaxListeners } from 'node:events'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import { noRecorder, type Recorder } from '../../metrics/recorder.js'
import type { ArenaCosts, MemoryReport } from '../../protocol/main-owner.js'
import type { HandedDraft } from '../../protocol/reader-owner.js'
import type { KV } from '../../storage/contract/kv.js'
import type { LocalKV } from '../../storage/contract/local-kv.js'
import { ClockTruth } from '../clock/clock-truth.js'
import type { Fence } from '../clock/fence.js'
import { FollowingEpoch } from '../clock/following-epoch.js'
import { OwnerClock } from '../clock/owner-clock.js'
import { RevisionFence } from '../clock/revision-fence.js'
import { StreamProgress } from '../clock/stream-progress.js'
import type { ArenaOptions } from '../memory/arena-writer.js'
import { MemoryOwner, type ReaderHandoff } from '../memory/memory-owner.js'
import type { ResourceView } from '../read/resource-view.js'
import { AppliedKV } from './applied-kv.js'
import type { StatusListener } from './cached-resource.js'
import { CacherMetrics } from './cacher-metrics.js'
import { Reflector } from './reflector.js'
import type { ResourceRegistration, ResourceStatus } from './resource-registration.js'

export interface CacherOptions {
  readonly kv: KV
  /** The prefix of all keys, with the slash at the end: `/registry/`. */
  readonly prefix: string
  /**
   * The same store as `kv`, when it lives in this thread. Everybody else then has to use `Cacher.kv` or
   * `Cacher.localKv`.
   */
  readonly local?: LocalKV | undefined
  readonly progressTrusted: () => Promise<boolean> | boolean
  /** Memory limit and window of each arena. */
  readonly arena?: ArenaOptions
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: Random
  readonly pageSize?: number
  readonly fenceLimitMs?: number
  /** How long the stream may be behind before StreamProgress pushes it. */
  readonly progressGraceMs?: number
  readonly onStatus?: StatusListener
  readonly recorder?: Recorder
}

export type CacherResource = Omit<ResourceRegistration, 'createArena'> & {
  /** True when the memory limit of arenas does not apply to this resource. */
  readonly unlimited?: boolean
}

/** What a thread needs to attach; the port in it goes into the transfer list. */
export interface CacherHandoff {
  readonly memory: ReaderHandoff
  readonly truth: SharedArrayBuffer
  readonly following: SharedArrayBuffer
}

export class Cacher {
  /** The store for everybody but the cacher itself. When it is local, it tells nothing that memory does not have. */
  readonly kv: KV
  readonly localKv: LocalKV | undefined
  readonly revisionClock: OwnerClock
  readonly fence: Fence
  readonly #options: CacherOptions
  readonly #memory: MemoryOwner
  readonly #metrics: CacherMetrics
  readonly #reflector: Reflector
  readonly #revisionFence: RevisionFence
  readonly #progress: StreamProgress
  readonly #truth = new ClockTruth()
  readonly #epoch = new FollowingEpoch()
  /**
   * Ends the waits of answers that are kept back until memory has them; undefined while memory does not follow the
   * store.
   */
  #gate: AbortController | undefined

  constructor(options: CacherOptions) {
    const { kv, prefix, local, progressTrusted, clock, logger } = options
    this.#options = options
    this.#metrics = new CacherMetrics(options.recorder ?? noRecorder())
    const metrics = this.#metrics
    this.#memory = new MemoryOwner({ clock })
    const revisionClock = new OwnerClock(this.#memory.clock)
    this.revisionClock = revisionClock
    this.localKv = local && new AppliedKV(local, (revision) => this.#applied(revision))
    this.kv = this.localKv ?? kv
    this.#reflector = new Reflector({
      ...options,
      metrics,
      revisionClock,
      onFollowing: (following) => this.#onFollowing(following),
      onRewind: () => this.#progress.reset(),
    })
    const markKey = `${prefix}keelson/fence`
    const progress = new StreamProgress({
      kv,
      markKey,
      progressTrusted,
      revisionClock,
      clock,
      logger,
      ...(options.progressGraceMs === undefined ? {} : { graceMs: options.progressGraceMs }),
    })
    this.#progress = progress
    this.#revisionFence = new RevisionFence({
      kv,
      revisionClock,
      progress,
      clock,
      metrics,
      following: () => this.#reflector.following,
      onWentBack: (revision) => this.#wentBack(revision),
      ...(options.fenceLimitMs === undefined ? {} : { limitMs: options.fenceLimitMs }),
    })
    this.fence = { pass: () => this.#truth.holds() || this.#revisionFence.pass() }
  }

  get following(): boolean {
    return this.#reflector.following
  }

  /** Resolves after the first list of everything. */
  get synced(): Promise<void> {
    return this.#reflector.synced
  }

  start(): void {
    this.#reflector.start()
  }

  async stop(): Promise<void> {
    this.#onFollowing(false)
    await this.#reflector.stop()
    this.#memory.close()
  }

  /**
   * Adds a resource. On a running cacher it resolves when the resource is ready, has fallen back to its storage, or was
   * removed.
   */
  addResource({ unlimited = false, ...resource }: CacherResource): Promise<void> {
    const events = this.#metrics.events(resource.resource)
    const limit = unlimited ? { limitBytes: Number.POSITIVE_INFINITY } : {}
    const onResize = (capacity: number, before: number): void => events.resized(capacity, before)
    return this.#reflector.addResource({
      ...resource,
      createArena: () => this.#memory.createArena(resource.resource, { ...this.#options.arena, ...limit, onResize }),
    })
  }

  /** Takes the drafts that threads of this process made of objects they are writing to etcd. */
  handDrafts(drafts: readonly HandedDraft[], reader: number): void {
    this.#reflector.handed.add(drafts, reader)
  }

  removeResource(name: string): void {
    this.#reflector.removeResource(name)
  }

  status(resource: string): ResourceStatus | undefined {
    return this.#reflector.status(resource)
  }

  memory(): Map<string, MemoryReport> {
    return this.#reflector.memory()
  }

  costs(): Map<string, MemoryReport & ArenaCosts> {
    return this.#reflector.costs()
  }

  get handedBytes(): number {
    return this.#reflector.handed.bytes
  }

  /** The store has been compacted up to the revision: memory need not reach back further either. */
  forget(revision: number): void {
    this.#reflector.forget(revision)
  }

  /** Admits a thread that reads. release() takes the number in the handoff when the thread has ended. */
  connect(): CacherHandoff {
    return { memory: this.#memory.connect(), truth: this.#truth.buffer, following: this.#epoch.buffer }
  }

  release(reader: number): void {
    this.#memory.release(reader)
    this.#reflector.handed.forget(reader)
  }

  /**
   * A thread was told a revision by the store that is older than one it had seen in this epoch. What it saw in an earlier
   * epoch has been listed anew since.
   */
  hearWentBack(revision: number, epoch: number): void {
    if (epoch === this.#epoch.current()) this.#wentBack(revision)
  }

  /** The views of resources for readers in the owner's own thread. */
  local(): (resource: string) => ResourceView {
    const memory = this.#memory.localReader()
    memory.start()
    return (resource) => ({
      clock: this.revisionClock,
      fence: this.fence,
      arena: () => {
        const arena = memory.arena(resource)
        return arena?.ready() ? arena : undefined
      },
      known: () => {
        const arena = memory.arena(resource)?.known()
        return arena?.ready() ? arena : undefined
      },
      fallen: () => this.status(resource)?.state === 'fallen',
    })
  }

  #wentBack(revision: number): void {
    this.#reflector.relist(`the store answers at revision ${revision}, before one that was seen`)
  }

  #applied(revision: number): Promise<void> | undefined {
    if (this.#gate === undefined || this.revisionClock.revision() >= revision) return undefined
    // When the revision was written outside our prefix, the stream has to be pushed to it.
    const needless = this.#progress.need(revision)
    return this.revisionClock
      .reached(revision, this.#gate.signal)
      .catch(() => undefined)
      .finally(needless)
  }

  #onFollowing(following: boolean): void {
    this.#epoch.follow(following)
    if (following) {
      if (this.#options.local !== undefined) void this.#proclaim()
      return
    }
    this.#truth.set(false)
    this.#gate?.abort()
    this.#gate = undefined
    this.#revisionFence.abandon()
  }

  /**
   * From now on the gate keeps every answer back until memory has what it tells. Once memory also has what was told
   * before, the clock is the truth (ClockTruth).
   */
  async #proclaim(): Promise<void> {
    const gate = new AbortController()
    // Any number of answers may wait on the signal.
    setMaxListeners(0, gate.signal)
    this.#gate = gate
    const { logger, kv } = this.#options
    try {
      await this.revisionClock.reached(await kv.currentRevision(), gate.signal)
      if (this.#gate === gate) this.#truth.set(true)
    } catch (error) {
      if (this.#gate === gate) logger.error({ error }, 'the local store does not tell its revision')
    }
  }
}
