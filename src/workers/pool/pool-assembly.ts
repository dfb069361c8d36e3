/** Thread: pool. One pool worker, put together from plain configuration and a line to the owner. */
import type { MessagePort } from 'node:worker_threads'
import type { KubeObject } from '../../api/object.js'
import { Authentication } from '../../auth/authn/authentication.js'
import { ServiceAccountTokenIssuer } from '../../auth/authn/service-account-tokens.js'
import { openAuthorizer } from '../../auth/authz/open-authorizer.js'
import { systemClock } from '../../lib/clock.js'
import { jsonLogger } from '../../lib/json-logger.js'
import type { Logger } from '../../lib/logger.js'
import { once } from '../../lib/once.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { OwnerLine, PoolStart, PoolThreadData } from '../../protocol/pool-start.js'
import type { ResourceChangeAnswer, ResourceChangeMessage } from '../../protocol/resource-change.js'
import { ServiceRegistry } from '../../registry/core/services/service-registry.js'
import { isProxyableAddress } from '../../registry/generic/proxy-target.js'
import type { Storage } from '../../storage/contract/interface.js'
import { EndpointTable } from '../endpoints/endpoint-table.js'
import { MASTER_LEASES, openInternalStorage, RANGE_ALLOCATIONS } from '../scheme/internal-storages.js'
import type { Scheme } from '../scheme/scheme.js'
import { admissionChain } from './admission-plugins.js'
import { RegistryAdmissionWriter } from './admission-writer.js'
import { MasterLeases } from './master-leases.js'
import { ObjectLookup } from './object-lookup.js'
import { openPoolStorages } from './pool-storages.js'
import { PoolWorker } from './pool-worker.js'
import { RegistryQuotaStatusStore } from './quota-status-store.js'
import { RequestsUnderWay } from './requests-under-way.js'
import { StoredObjects } from './stored-objects.js'

export interface PoolAssemblyOptions {
  readonly start: PoolThreadData
  /** To the owner, and to main for what changes. */
  readonly line: OwnerLine
  readonly recorder: Recorder
}

export async function openPoolWorker({ start, line, recorder }: PoolAssemblyOptions): Promise<PoolWorker> {
  const logger: Logger = jsonLogger(start.logLevel)
  const { cache, scheme, rawStorages, undecorated, restOptions } = await openPoolStorages(start, line, recorder, logger)
  const { authorizer, rbac } = openAuthorizer({
    config: start.authorization,
    cache: (resource) => cache.resource(resource),
    clock: systemClock,
    random: Math.random,
    recorder,
    logger,
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
  const identity = once(
    () =>
      new Authentication(start.authentication, {
        objects: new StoredObjects(endpoints),
        clock: systemClock,
        random: Math.random,
        recorder,
      }),
  )
  const ranges = (): Storage<KubeObject> => openInternalStorage(RANGE_ALLOCATIONS, scheme, undecorated)
  const services = once(() => serviceRegistry(start, endpoints, ranges(), logger))
  const masterLeases = once(() => new MasterLeases(openInternalStorage(MASTER_LEASES, scheme, undecorated)))
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
    underWay: new RequestsUnderWay(start.cancelFlags, systemClock),
    endpoints,
    admission,
    objects,
    authorizer,
    clock: systemClock,
    logger,
    services,
    masterLeases,
    scheme,
    deleteCollectionWorkers: start.etcdOptions.deleteCollectionWorkers,
  })
}

function serviceRegistry(
  start: PoolStart,
  endpoints: EndpointTable,
  ranges: Storage<KubeObject>,
  logger: Logger,
): ServiceRegistry {
  return new ServiceRegistry({
    network: start.serviceNetwork,
    store: (apiGroup, resource) => endpoints.find({ apiGroup, apiVersion: 'v1', resource, subresource: '' }).store,
    ranges,
    clock: systemClock,
    random: Math.random,
    logger,
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
