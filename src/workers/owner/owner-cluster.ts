/** Thread: owner. One storage cluster in the owner: its store, its cache, its monitors, and the ports it serves. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { StatusListener } from '../../cacher/feed/cached-resource.js'
import { Cacher } from '../../cacher/feed/cacher.js'
import type { Clock } from '../../lib/clock.js'
import { dialThrough } from '../../lib/egress/connect-tunnel.js'
import type { Logger } from '../../lib/logger.js'
import { storageFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { ClusterCosts, HealthProbe } from '../../protocol/main-owner.js'
import type { ClusterHandoff } from '../../protocol/reader-owner.js'
import { normalizePathPrefix } from '../../storage/contract/storage-key.js'
import { EmbeddedEngine } from '../../storage/embedded/embedded-engine.js'
import { KvServer } from '../../storage/embedded/kv-server.js'
import { EtcdKV } from '../../storage/etcd/etcd-kv.js'
import { loadTlsOptions } from '../../storage/etcd/tls-options.js'
import { IN_MEMORY, type StorageConfig } from '../../storage/factory/storage-config.js'
import { Compactor } from '../../storage/monitors/compactor.js'
import { DbSizeMonitor } from '../../storage/monitors/db-size-monitor.js'
import { type Health, HealthCheck } from '../../storage/monitors/health-check.js'

export interface OwnerClusterOptions {
  readonly config: StorageConfig
  readonly cacheMemoryLimitBytes: number
  readonly clock: Clock
  readonly logger: Logger
  readonly recorder: Recorder
  readonly onStatus: StatusListener
  readonly onDatabaseSize: (endpoint: string, bytes: number) => void
}

export class OwnerCluster {
  readonly cacher: Cacher
  readonly prefix: string
  readonly #kvServer: KvServer | undefined
  readonly #engine: EmbeddedEngine | undefined
  readonly #closeStore: () => Promise<void>
  readonly #compactor: Compactor
  readonly #dbSizeMonitor: DbSizeMonitor
  readonly #checks: Readonly<Record<HealthProbe, HealthCheck>>

  private constructor(options: OwnerClusterOptions, cacher: Cacher, prefix: string, store: EmbeddedEngine | EtcdKV) {
    const { config, clock, logger, recorder, onDatabaseSize } = options
    const { kv } = cacher
    this.cacher = cacher
    this.prefix = prefix
    this.#kvServer = cacher.localKv && new KvServer(cacher.localKv)
    this.#engine = store instanceof EmbeddedEngine ? store : undefined
    this.#closeStore = () => store.close()
    const compactRevision = recorder.series(storageFamilies.compactRevision)
    this.#compactor = new Compactor({
      kv,
      clock,
      logger,
      intervalMs: config.compactionIntervalMs,
      onTurn: (result) => recorder.series(storageFamilies.compactions, result).add(1),
      onRevision: (revision) => {
        compactRevision.set(revision)
        cacher.forget(revision)
      },
    })
    this.#dbSizeMonitor = new DbSizeMonitor({
      kv,
      clock,
      logger,
      record: onDatabaseSize,
      intervalMs: config.dbMetricPollIntervalMs,
    })
    const check = (timeoutMs: number): HealthCheck => new HealthCheck({ kv, clock, prefix: config.prefix, timeoutMs })
    this.#checks = { health: check(config.healthcheckTimeoutMs), ready: check(config.readycheckTimeoutMs) }
  }

  static async open(options: OwnerClusterOptions): Promise<OwnerCluster> {
    const { config, clock, logger, onStatus, cacheMemoryLimitBytes, recorder } = options
    const prefix = normalizePathPrefix(config.prefix)
    const shared = {
      prefix,
      clock,
      logger,
      onStatus,
      recorder,
      arena: cacheMemoryLimitBytes > 0 ? { limitBytes: cacheMemoryLimitBytes } : {},
    }
    if (config.type === 'embedded') {
      const damagedReads = recorder.series(storageFamilies.damagedReads)
      const engine = await EmbeddedEngine.open({
        ...(config.dataDir === '' || config.dataDir === IN_MEMORY ? {} : { dataDir: config.dataDir }),
        clock,
        logger,
        onDamage: (error) => {
          damagedReads.add(1)
          logger.error({ err: error }, 'the embedded engine read a damaged record')
        },
        onSynced: commitRecorder(recorder),
      })
      const cacher = new Cacher({ ...shared, kv: engine, local: engine, progressTrusted: () => true })
      return new OwnerCluster(options, cacher, prefix, engine)
    }
    const { transport } = config
    const kv = new EtcdKV({
      endpoints: transport.servers,
      tls: loadTlsOptions(transport, logger),
      dial: dialThrough(transport.egress),
      clock,
      logger,
    })
    const cacher = new Cacher({ ...shared, kv, progressTrusted: () => kv.progressTrusted() })
    return new OwnerCluster(options, cacher, prefix, kv)
  }

  /** Admits a thread that reads; release() takes the number of its reader when the thread is gone. */
  connect(): { handoff: ClusterHandoff; transfer: MessagePort[] } {
    const { memory, truth, following } = this.cacher.connect()
    const kv = this.#serveKv()
    return { handoff: { memory, truth, following, kv }, transfer: kv === undefined ? [memory.port] : [memory.port, kv] }
  }

  start(): void {
    this.cacher.start()
    this.#compactor.start()
    this.#dbSizeMonitor.start()
  }

  /** Whether the store answers. */
  checkStore(probe: HealthProbe): Promise<Health> {
    return this.#checks[probe].check()
  }

  /** Why the embedded engine takes no writes; undefined on etcd, which has alarms of its own. */
  writeProblem(): ReturnType<EmbeddedEngine['writeProblem']> {
    return this.#engine?.writeProblem()
  }

  costs(): ClusterCosts {
    const { handedBytes } = this.cacher
    return this.#engine === undefined ? { handedBytes } : { handedBytes, store: this.#engine.costs() }
  }

  async stop(): Promise<void> {
    await this.#compactor.stop()
    await this.#dbSizeMonitor.stop()
    this.#kvServer?.stop()
    await this.cacher.stop()
    await this.#closeStore()
  }

  #serveKv(): MessagePort | undefined {
    if (this.#kvServer === undefined) return undefined
    const { port1, port2 } = new MessageChannel()
    this.#kvServer.serve(port1)
    return port2
  }
}

function commitRecorder(recorder: Recorder): (writes: number, durationMs: number) => void {
  const duration = recorder.series(storageFamilies.commitDuration)
  const written = recorder.series(storageFamilies.commitWrites)
  return (writes, durationMs) => {
    duration.observe(durationMs / 1000)
    written.add(writes)
  }
}
