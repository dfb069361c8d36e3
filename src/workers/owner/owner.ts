/**
 * Thread: owner. Puts the owner together: storage clusters, caches, count polling, readers. owner-thread.ts runs it in a
 * thread of its own; tests may run it in theirs.
 *
 *   new ──start()──▶ running ──stop()──▶ stopped
 */
import type { MessagePort } from 'node:worker_threads'
import type { ResourceStatus } from '../../cacher/feed/resource-registration.js'
import { assert } from '../../lib/assert.js'
import type { Clock } from '../../lib/clock.js'
import { Lifecycle } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { noRecorder, type Recorder } from '../../metrics/recorder.js'
import type {
  CacheCosts,
  HealthProbe,
  OwnerConfig,
  OwnerEvent,
  OwnerHealth,
  OwnerResource,
  ResourceHealth,
  ResourceMemory,
} from '../../protocol/main-owner.js'
import { normalizeResourcePrefix } from '../../storage/contract/storage-key.js'
import { CountPoller } from '../../storage/monitors/count-poller.js'
import { sampleStats } from '../../storage/store/store-stats.js'
import { DraftThreads } from './draft-threads.js'
import { OwnerCluster } from './owner-cluster.js'
import { OwnerReaders } from './owner-readers.js'
import type { OwnerResources } from './owner-resources.js'

export interface OwnerOptions {
  readonly config: OwnerConfig
  readonly resources: OwnerResources
  readonly clock: Clock
  readonly logger: Logger
  readonly onEvent: (event: OwnerEvent) => void
  readonly recorder?: Recorder
}

export class Owner {
  readonly #options: OwnerOptions
  readonly #lifecycle = new Lifecycle()
  readonly #clusters: OwnerCluster[] = []
  readonly #cached = new Map<string, { resource: OwnerResource; poller: CountPoller }>()
  readonly #health = new Map<string, ResourceHealth>()
  readonly #draftThreads: DraftThreads | undefined
  #readers: OwnerReaders | undefined

  constructor(options: OwnerOptions) {
    this.#options = options
    const { config, clock, logger } = options
    const { draftModule: module, resourceModuleOptions } = config
    if (module === undefined) return
    const draftThreads = new DraftThreads({ module, options: resourceModuleOptions, clock, logger })
    this.#draftThreads = draftThreads
    this.#lifecycle.own('threads that decode objects', { close: () => draftThreads.close() })
  }

  /** Resolves when every cluster has been listed once. When one cannot be opened, the others are closed again. */
  async start(): Promise<void> {
    try {
      for (const index of this.#options.config.clusters.keys()) await this.#openCluster(index)
      this.#readers = new OwnerReaders(this.#clusters, this.#options.logger)
      const readers = this.#readers
      this.#lifecycle.own('readers', { close: () => readers.stop() })
      for (const resource of this.#options.config.resources) void this.addResource(resource)
      for (const cluster of this.#clusters) cluster.start()
      await Promise.all(this.#clusters.map(({ cacher }) => cacher.synced))
    } catch (error) {
      await this.stop()
      throw error
    }
  }

  async stop(): Promise<void> {
    for (const { poller } of this.#cached.values()) poller.stop()
    await this.#lifecycle.close()
  }

  attach(port: MessagePort): void {
    assert(this.#readers !== undefined, 'threads attach to an owner that runs')
    this.#readers.attach(port)
  }

  async addResource(resource: OwnerResource): Promise<void> {
    const { resources } = this.#options
    const { cacher, prefix } = this.#cluster(resource.cluster)
    const keyPrefix = prefix + normalizeResourcePrefix(resource.resourcePrefix).slice(1)
    const added = cacher.addResource({
      resource: resource.resource,
      unlimited: resource.unlimited === true,
      keyPrefix,
      transformer: resources.transformer(resource),
      recordDraft: resources.recordDraft(resource),
      ...(this.#draftThreads === undefined || resource.definition !== undefined
        ? {}
        : { draftMakers: this.#draftThreads.makers(resource.resource) }),
    })
    const poller = this.#poller(resource, keyPrefix)
    this.#cached.set(resource.resource, { resource, poller })
    this.#readers?.notify({ resource: resource.resource, cluster: resource.cluster, state: 'cached' })
    poller.start()
    await added
  }

  removeResource(name: string): void {
    const cached = this.#cached.get(name)
    if (cached === undefined) return
    this.#cached.delete(name)
    this.#health.delete(name)
    cached.poller.stop()
    this.#options.resources.removed?.(cached.resource)
    const { cluster } = cached.resource
    this.#cluster(cluster).cacher.removeResource(name)
    this.#readers?.notify({ resource: name, cluster, state: 'removed' })
  }

  async health(probe: HealthProbe): Promise<OwnerHealth> {
    const clusters = await Promise.all(
      this.#clusters.map(async (cluster) => {
        const store = await cluster.checkStore(probe)
        const { cacher } = cluster
        const problem = cluster.writeProblem()
        return {
          following: cacher.following,
          revision: cacher.revisionClock.revision(),
          ...(store.healthy ? {} : { storeError: store.error.message }),
          ...(problem === undefined ? {} : { writeError: problem.error.message, writesEnded: problem.isFinal }),
        }
      }),
    )
    const resources: Record<string, ResourceHealth> = {}
    for (const [name, { resource }] of this.#cached) {
      const status = this.#cluster(resource.cluster).cacher.status(name)
      if (status !== undefined) resources[name] = healthOf(status)
    }
    return { clusters, resources }
  }

  memory(): Record<string, ResourceMemory> {
    return Object.fromEntries(
      this.#clusters.flatMap(({ cacher }) => {
        const revision = cacher.revisionClock.revision()
        return [...cacher.memory()].map(([name, report]) => [name, { ...report, revision }])
      }),
    )
  }

  costs(): CacheCosts {
    const resources = this.#clusters.flatMap(({ cacher }) => {
      const revision = cacher.revisionClock.revision()
      return [...cacher.costs()].map(([name, costs]) => [name, { ...costs, revision }] as const)
    })
    return { resources: Object.fromEntries(resources), clusters: this.#clusters.map((cluster) => cluster.costs()) }
  }

  async #openCluster(index: number): Promise<void> {
    const { config, clock, logger, recorder = noRecorder() } = this.#options
    const cluster = await OwnerCluster.open({
      config: config.clusters[index]!,
      cacheMemoryLimitBytes: config.cacheMemoryLimitBytes,
      clock,
      logger: logger.child({ cluster: index }),
      recorder,
      onStatus: (resource, status) => this.#onStatus(resource, status, index),
      onDatabaseSize: (endpoint, bytes) => this.#options.onEvent({ type: 'db-size', cluster: index, endpoint, bytes }),
    })
    this.#clusters.push(cluster)
    this.#lifecycle.own(`storage cluster ${index}`, { close: () => cluster.stop() })
  }

  #onStatus(resource: string, status: ResourceStatus, cluster: number): void {
    this.#options.onEvent({ type: 'resource-state', resource, health: healthOf(status) })
    if (status.state === 'ready') this.#readers?.notify({ resource, cluster, state: 'cached' })
    if (status.state === 'fallen') this.#readers?.notify({ resource, cluster, state: 'fallen' })
  }

  #poller({ resource, cluster }: OwnerResource, keyPrefix: string): CountPoller {
    const { config, clock, logger, onEvent } = this.#options
    const { kv } = this.#cluster(cluster).cacher
    const [name = '', ...group] = resource.split('.')
    return new CountPoller({
      resource: { group: group.join('.'), resource: name },
      stats: () => sampleStats(kv, keyPrefix),
      periodMs: config.clusters[cluster]?.countMetricPollPeriodMs ?? 0,
      recorder: {
        update: (_, counts) =>
          onEvent({ type: 'count', resource, objects: counts.objects, bytes: counts.estimatedBytes }),
        delete: () => onEvent({ type: 'count-gone', resource }),
      },
      clock,
      logger,
    })
  }

  #cluster(index: number): OwnerCluster {
    const cluster = this.#clusters[index]
    assert(cluster !== undefined, `there is no storage cluster ${index}`)
    return cluster
  }
}

function healthOf(status: ResourceStatus): ResourceHealth {
  return status.state === 'fallen' ? { state: 'fallen', reason: status.reason } : { state: status.state }
}
