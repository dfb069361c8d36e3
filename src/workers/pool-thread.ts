/** Thread: pool. The entry of a pool thread: attaches to the owner, then serves tasks. */
import { MessageChannel, type MessagePort, parentPort, threadId, workerData } from 'node:worker_threads'
import { formatGroupResource } from '../api/group-version.js'
import { decodeJson } from '../api/json/decode.js'
import type { KubeObject } from '../api/object.js'
import { Authentication } from '../auth/authn/authentication.js'
import { ServiceAccountTokenIssuer } from '../auth/authn/service-account-tokens.js'
import { openAuthorizer } from '../auth/authz/open-authorizer.js'
import { CacheClient } from '../cacher/read/cache-client.js'
import { CacheDelegator } from '../cacher/read/cache-delegator.js'
import { assert } from '../lib/assert.js'
import { systemClock } from '../lib/clock.js'
import { jsonLogger } from '../lib/json-logger.js'
import type { Logger } from '../lib/logger.js'
import { StoreMetrics } from '../metrics/store-metrics.js'
import { ThreadProbe } from '../metrics/thread-probe.js'
import { threadRecorder } from '../metrics/thread-recorder.js'
import type { SlottedTask } from '../protocol/main-pool.js'
import type { OwnerLine, PoolThreadData, PoolThreadMessage } from '../protocol/pool-start.js'
import type { ResourceChangeAnswer, ResourceChangeMessage } from '../protocol/resource-change.js'
import { ServiceRegistry } from '../registry/core/services/service-registry.js'
import { isProxyableAddress } from '../registry/generic/proxy-target.js'
import { StorageFactoryRESTOptionsGetter } from '../registry/generic/rest-options.js'
import { RawStorages, storageWithCacher, undecoratedStorage } from '../storage/factory/decorator.js'
import { transportKey } from '../storage/factory/storage-config.js'
import { EndpointTable } from './endpoints/endpoint-table.js'
import { admissionChain } from './pool/admission-plugins.js'
import { RegistryAdmissionWriter } from './pool/admission-writer.js'
import { openBackend } from './pool/backend.js'
import { MasterLeases } from './pool/master-leases.js'
import { ObjectLookup } from './pool/object-lookup.js'
import { PoolWorker } from './pool/pool-worker.js'
import { RegistryQuotaStatusStore } from './pool/quota-status-store.js'
import { RequestsUnderWay } from './pool/requests-under-way.js'
import { StoredObjects } from './pool/stored-objects.js'
import { openTransformers } from './pool/transformers.js'
import { MASTER_LEASES, openInternalStorage, RANGE_ALLOCATIONS } from './scheme/internal-storages.js'
import { Scheme } from './scheme/scheme.js'
import { ThreadInspector } from './thread-inspector.js'

/** Asks main for a line to the owner, and to main for what changes. */
async function attach(): Promise<OwnerLine> {
  assert(parentPort !== null, 'a pool thread has a parent')
  const { port1, port2 } = new MessageChannel()
  const answered = new Promise<OwnerLine>((resolve) => port1.once('message', resolve))
  parentPort.postMessage({ type: 'attach', port: port2 } satisfies PoolThreadMessage, [port2])
  const line = await answered
  port1.close()
  return line
}

async function open(start: PoolThreadData): Promise<PoolWorker> {
  const { etcdOptions } = start
  const logger: Logger = jsonLogger(start.logLevel)
  const recorder = threadRecorder((line, transfer) => parentPort?.postMessage(line, transfer))
  new ThreadInspector(`pool-${threadId}`, systemClock).open((line, transfer) => parentPort?.postMessage(line, transfer))
  new ThreadProbe(`pool-${threadId}`, recorder, systemClock).start()
  const line = await attach()
  const cache = await CacheClient.attach(line.port)
  const transformers = await openTransformers(etcdOptions, recorder, logger)
  const scheme = new Scheme(start, transformers?.transformers)
  for (const definition of line.definitions) scheme.apply({ type: 'set', definition })
  const clusters = scheme.configs().map(transportKey)
  const rawStorages = new RawStorages({
    openBackend: (config) => openBackend(config, clusters.indexOf(transportKey(config)), cache, recorder, logger),
    metricsOf: (resource) => new StoreMetrics(recorder, resource),
  })
  const undecorated = undecoratedStorage(rawStorages)
  const restOptions = new StorageFactoryRESTOptionsGetter({
    etcdOptions,
    storageFactory: scheme,
    undecorated,
    withCacher: storageWithCacher(rawStorages, (options, storage) => {
      const name = formatGroupResource(options.config.groupResource)
      const resource = scheme.stored(name)
      const info = resource?.info
      const schema = info === undefined ? undefined : scheme.kind(info.group, info.version, info.kind)
      assert(resource !== undefined && schema !== undefined, `there is no schema for ${name}`)
      return new CacheDelegator<KubeObject>({
        storage,
        view: cache.resource(resource.arena),
        decodeBody: (body) => decodeJson(Buffer.from(body), schema).object,
        newObject: options.newObject,
        pathPrefix: options.config.prefix,
        resourcePrefix: options.resourcePrefix,
      })
    }),
  })
  const { authorizer, rbac } = openAuthorizer({
    config: start.authorization,
    cache: (resource) => cache.resource(resource),
    clock: systemClock,
    random: Math.random,
    recorder,
  })
  const endpoints: EndpointTable = new EndpointTable({
    scheme,
    restOptions,
    dependencies: {
      authorizer,
      heldRules: rbac,
      tokenIssuer: new ServiceAccountTokenIssuer(start.authentication.serviceAccounts),
      tokens: () => identity().tokens,
      apiAudiences: start.authentication.serviceAccounts.apiAudiences,
      storageProbes: scheme.configs().map((config) => () => rawStorages.probe(config)),
      serviceHooks: () => services().hooks,
      connection: start.connection,
      mayReach: isProxyableAddress,
      random: Math.random,
    },
    eventTtlSeconds: start.eventTtlSeconds,
    allowPrivileged: start.allowPrivileged,
    // The object is gone all the same: what could not be told is mended by those who count.
    deleted: (resource, object) =>
      admission
        .deleted(resource, object)
        .catch((error: unknown) => logger.warn({ err: error, resource }, 'a deletion was not counted')),
  })
  followChanges(line.changes, scheme, endpoints)
  let authentication: Authentication | undefined
  const identity = (): Authentication => {
    const objects = new StoredObjects(endpoints)
    authentication ??= new Authentication(start.authentication, {
      objects,
      clock: systemClock,
      random: Math.random,
      recorder,
    })
    return authentication
  }
  let registry: ServiceRegistry | undefined
  const services = (): ServiceRegistry => {
    registry ??= new ServiceRegistry({
      network: start.serviceNetwork,
      store: (apiGroup, resource) => endpoints.find({ apiGroup, apiVersion: 'v1', resource, subresource: '' }).store,
      ranges: openInternalStorage(RANGE_ALLOCATIONS, scheme, undecorated),
      clock: systemClock,
      random: Math.random,
      logger,
    })
    return registry
  }
  let leases: MasterLeases | undefined
  const masterLeases = (): MasterLeases => {
    leases ??= new MasterLeases(openInternalStorage(MASTER_LEASES, scheme, undecorated))
    return leases
  }
  const objects = new ObjectLookup({ endpoints, scheme, restOptions, cache })
  const admission = admissionChain({
    start: start.admission,
    objects,
    writer: new RegistryAdmissionWriter(endpoints, systemClock),
    quotaStatus: new RegistryQuotaStatusStore(endpoints, systemClock),
    authorizer,
    scheme,
    clock: systemClock,
    random: Math.random,
    recorder,
  })
  return new PoolWorker({
    endpoints,
    admission,
    objects,
    authorizer,
    clock: systemClock,
    logger,
    services,
    masterLeases,
    scheme,
    deleteCollectionWorkers: etcdOptions.deleteCollectionWorkers,
    underWay: new RequestsUnderWay(start.cancelFlags, systemClock),
  })
}

/** In order; each is answered when the next request sees it. */
function followChanges(port: MessagePort, scheme: Scheme, endpoints: EndpointTable): void {
  port.on('message', ({ sequence, change }: ResourceChangeMessage) => {
    scheme.apply(change)
    const groupResource = change.type === 'set' ? change.definition : change.groupResource
    void endpoints.forget(groupResource).then(() => port.postMessage({ sequence } satisfies ResourceChangeAnswer))
  })
  port.unref()
}

const worker = open(workerData as PoolThreadData)

export default async function run(task: SlottedTask): Promise<unknown> {
  return (await worker).run(task)
}
