/** Thread: pool. The storages of a pool thread: what is served, how each resource is stored, and shared memory in front. */
import { formatGroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import { CacheClient } from '../../cacher/read/cache-client.js'
import { CacheDelegator } from '../../cacher/read/cache-delegator.js'
import { assert } from '../../lib/assert.js'
import type { Logger } from '../../lib/logger.js'
import type { Recorder } from '../../metrics/recorder.js'
import { StoreMetrics } from '../../metrics/store-metrics.js'
import type { OwnerLine, PoolThreadData } from '../../protocol/pool-start.js'
import { StageTimes } from '../../protocol/stage-times.js'
import { StorageFactoryRESTOptionsGetter } from '../../registry/generic/rest-options.js'
import { rulesOf } from '../../registry/rules-table.js'
import {
  RawStorages,
  type StorageDecorator,
  storageWithCacher,
  undecoratedStorage,
} from '../../storage/factory/decorator.js'
import { transportKey } from '../../storage/factory/storage-config.js'
import type { Tracer } from '../../tracing/tracer.js'
import { DEFINITIONS, definitionReader } from '../scheme/definition-reader.js'
import { decodeMemory } from '../scheme/memory-body.js'
import { Scheme } from '../scheme/scheme.js'
import { openBackend } from './backend.js'
import { openTransformers } from './transformers.js'

export interface WorkerStorages {
  readonly cache: CacheClient
  readonly scheme: Scheme
  readonly rawStorages: RawStorages
  /** Makes storages without shared memory in front, for what the server keeps and does not serve. */
  readonly undecorated: StorageDecorator
  readonly restOptions: StorageFactoryRESTOptionsGetter
}

export async function openWorkerStorages(
  start: PoolThreadData,
  line: OwnerLine,
  recorder: Recorder,
  logger: Logger,
  tracer: Tracer | undefined,
): Promise<WorkerStorages> {
  const { etcdOptions } = start
  const cache = await CacheClient.attach(line.port)
  const transformers = await openTransformers(etcdOptions, recorder, logger)
  const readDefinition = definitionReader(() => cache.resource(DEFINITIONS), etcdOptions.etcdPrefix)
  const scheme = new Scheme(start, transformers?.transformers, rulesOf, readDefinition)
  for (const definition of line.definitions) scheme.apply({ type: 'set', definition })
  const stageTimes = new StageTimes(start.stageTimes)
  const clusters = scheme.configs().map(transportKey)
  const rawStorages = new RawStorages({
    openBackend: (config) => {
      const cluster = clusters.indexOf(transportKey(config))
      return openBackend({ config, cluster, cache, stageTimes, recorder, logger, tracer })
    },
    metricsOf: (resource) => new StoreMetrics(recorder, resource),
  })
  const undecorated = undecoratedStorage(rawStorages)
  const restOptions = new StorageFactoryRESTOptionsGetter({
    etcdOptions,
    storageFactory: scheme,
    undecorated,
    withCacher: cachedStorage(rawStorages, scheme, cache),
  })
  return { cache, scheme, rawStorages, undecorated, restOptions }
}

function cachedStorage(rawStorages: RawStorages, scheme: Scheme, cache: CacheClient): StorageDecorator {
  return storageWithCacher(rawStorages, (options, storage) => {
    const name = formatGroupResource(options.config.groupResource)
    const resource = scheme.stored(name)
    const info = resource?.info
    const custom = scheme.defined(name) !== undefined
    const schema = info === undefined || custom ? undefined : scheme.kind(info.group, info.version, info.kind)
    assert(resource !== undefined && (custom || schema !== undefined), `there is no schema for ${name}`)
    return new CacheDelegator<KubeObject>({
      storage,
      view: cache.resource(resource.arena),
      decodeBody: (body) => decodeMemory(Buffer.from(body), schema),
      newObject: options.newObject,
      pathPrefix: options.config.prefix,
      resourcePrefix: options.resourcePrefix,
    })
  })
}
