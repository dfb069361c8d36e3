/** Thread: main, or a front end's own. The short ways of a front end to the storage clusters that are etcd. */
import { dialThrough } from '../lib/egress/connect-tunnel.js'
import type { Logger } from '../lib/logger.js'
import type { RevisionSource } from '../storage/contract/revision-source.js'
import { EtcdRevisionSource } from '../storage/etcd/etcd-revision-source.js'
import { loadTlsOptions } from '../storage/etcd/tls-options.js'
import type { StorageConfig } from '../storage/factory/storage-config.js'

/** One for each cluster, in their order; undefined for the embedded engine, whose clock is the truth. */
export function openRevisionSources(
  clusters: readonly StorageConfig[],
  logger: Logger,
): readonly (RevisionSource | undefined)[] {
  return clusters.map(({ type, transport }) => {
    if (type === 'embedded') return undefined
    return new EtcdRevisionSource({
      endpoints: transport.servers,
      tls: loadTlsOptions(transport, logger),
      dial: dialThrough(transport.egress),
      logger,
    })
  })
}
