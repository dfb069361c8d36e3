/** Thread: pool. The way from a worker to the storage: its own connection to etcd, or the line to the engine's owner. */
import type { CacheClient } from '../../cacher/read/cache-client.js'
import { assert } from '../../lib/assert.js'
import { systemClock } from '../../lib/clock.js'
import { dialThrough } from '../../lib/egress/connect-tunnel.js'
import type { Logger } from '../../lib/logger.js'
import { storageFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { StageTimes } from '../../protocol/stage-times.js'
import type { KV } from '../../storage/contract/kv.js'
import { exactBytes } from '../../storage/embedded/port-bytes.js'
import { RemoteKV } from '../../storage/embedded/remote-kv.js'
import { EtcdKV } from '../../storage/etcd/etcd-kv.js'
import { loadTlsOptions } from '../../storage/etcd/tls-options.js'
import type { Backend } from '../../storage/factory/decorator.js'
import type { StorageConfig } from '../../storage/factory/storage-config.js'
import { LeaseManager } from '../../storage/monitors/lease-manager.js'
import type { Tracer } from '../../tracing/tracer.js'
import { SpannedKV } from './spanned-kv.js'
import { TracedKV } from './traced-kv.js'

export interface BackendOptions {
  readonly config: StorageConfig
  /** The place of the servers among those of the owner. */
  readonly cluster: number
  readonly cache: CacheClient
  readonly stageTimes: StageTimes
  readonly recorder: Recorder
  readonly logger: Logger
  /** Undefined when nothing is traced. */
  readonly tracer: Tracer | undefined
}

export function openBackend(options: BackendOptions): Backend {
  const { config, cluster, cache, stageTimes, recorder, logger, tracer } = options
  const opened = new TracedKV(
    config.type === 'embedded' ? embedded(cache) : etcd(config, cluster, cache, logger),
    stageTimes,
  )
  const kv = tracer === undefined ? opened : new SpannedKV(opened, tracer, config.type)
  const leaseObjects = recorder.series(storageFamilies.leaseObjects)
  const leases = new LeaseManager({
    kv,
    clock: systemClock,
    reuseDurationSeconds: config.leaseReuseDurationSeconds,
    onLeaseFull: (objects) => leaseObjects.observe(objects),
  })
  return { kv, leases, close: () => kv.close() }
}

function embedded(cache: CacheClient): KV {
  const port = cache.kvPort()
  assert(port !== undefined, 'the owner of an embedded engine gives every thread a line to it')
  const kv = new RemoteKV({ port })
  kv.start()
  return kv
}

function etcd({ transport }: StorageConfig, cluster: number, cache: CacheClient, logger: Logger): KV {
  return new EtcdKV({
    endpoints: transport.servers,
    tls: loadTlsOptions(transport, logger),
    dial: dialThrough(transport.egress),
    logger,
    onDraft: (key, value, { body, ...draft }) =>
      cache.handDraft(cluster, { key, value: exactBytes(value), draft: { ...draft, body: exactBytes(body) } }),
  })
}
