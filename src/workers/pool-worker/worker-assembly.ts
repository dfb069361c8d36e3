/** Thread: pool. One pool worker, put together from plain configuration and a line to the owner. */
import type { MessagePort } from 'node:worker_threads'
import type { TracedCall } from '../../admission/webhooks/webhook-transport.js'
import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import { TRACE_HEADER, traceHeader } from '../../api/trace-context.js'
import { Authentication } from '../../auth/authn/authentication.js'
import { ServiceAccountTokenIssuer } from '../../auth/authn/service-account-tokens.js'
import { openAuthorizer } from '../../auth/authz/open-authorizer.js'
import type { Authorizer } from '../../auth/interface.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import { systemClock } from '../../lib/clock.js'
import { jsonLogger } from '../../lib/json-logger.js'
import type { Logger } from '../../lib/logger.js'
import { once } from '../../lib/once.js'
import type { Recorder } from '../../metrics/recorder.js'
import { PoolPulse } from '../../protocol/pool-pulse.js'
import type { OwnerLine, PoolStart, PoolThreadData } from '../../protocol/pool-start.js'
import type { ResourceChangeAnswer, ResourceChangeMessage } from '../../protocol/resource-change.js'
import { ServiceRegistry } from '../../registry/core/services/service-registry.js'
import { isProxyableAddress } from '../../registry/generic/proxy-target.js'
import type { Storage } from '../../storage/contract/interface.js'
import { openTracer } from '../../tracing/open-tracer.js'
import { SpanKind } from '../../tracing/span.js'
import type { Tracer } from '../../tracing/tracer.js'
import { EndpointTable } from '../endpoints/endpoint-table.js'
import { MASTER_LEASES, openInternalStorage, RANGE_ALLOCATIONS } from '../scheme/internal-storages.js'
import type { Scheme } from '../scheme/scheme.js'
import { admissionChain } from './admission-plugins.js'
import { RegistryAdmissionWriter } from './admission-writer.js'
import { MasterLeases } from './master-leases.js'
import { ObjectLookup } from './object-lookup.js'
import { PolicyPlugins } from './policy-plugins.js'
import { PoolWorker } from './pool-worker.js'
import { RegistryQuotaStatusStore } from './quota-status-store.js'
import { RequestsUnderWay } from './requests-under-way.js'
import { RulesInForce } from './rules-in-force.js'
import { ServedKinds } from './served-kinds.js'
import { StoredObjects } from './stored-objects.js'
import { WebhookPlugins } from './webhook-plugins.js'
import { openWorkerStorages } from './worker-storages.js'

export interface WorkerAssemblyOptions {
  readonly start: PoolThreadData
  /** The line to the owner, and the one over which main tells of changes. */
  readonly line: OwnerLine
  readonly recorder: Recorder
}

export async function openPoolWorker({ start, line, recorder }: WorkerAssemblyOptions): Promise<PoolWorker> {
  const logger: Logger = jsonLogger(start.logLevel)
  const tracer = start.tracing && openTracer(start.tracing, { clock: systemClock, recorder, logger }).tracer
  const { cache, scheme, rawStorages, undecorated, restOptions } = await openWorkerStorages(
    start,
    line,
    recorder,
    logger,
    tracer,
  )
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
      logger,
      schemas: scheme,
      resourceOf: ({ group, version, kind }) => scheme.catalogue.findKind(group, version, kind),
    },
    converterOf: (definition) => conversions().converterOf(definition),
    eventTtlSeconds: start.eventTtlSeconds,
    allowPrivileged: start.allowPrivileged,
    deleted: (resource, object) => toldOf(admission.deleted(resource, object), resource, logger),
  })
  followChanges(line.changes, scheme, endpoints)
  const identity = once(() => authentication(start, endpoints, recorder))
  const ranges = (): Storage<KubeObject> => openInternalStorage(RANGE_ALLOCATIONS, scheme, undecorated)
  const services = once(() => serviceRegistry(start, endpoints, ranges(), logger))
  const masterLeases = once(() => new MasterLeases(openInternalStorage(MASTER_LEASES, scheme, undecorated)))
  const objects = new ObjectLookup({ endpoints, scheme, restOptions, cache })
  const plugins = ruledPlugins(start, { cache, scheme, endpoints, objects, authorizer, recorder, logger, tracer })
  const conversions = once(() => plugins.webhooks.conversions(scheme))
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
    ...plugins,
  })
  return new PoolWorker({
    inForce: new RulesInForce(cache),
    tracer,
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

const authentication = (start: PoolStart, endpoints: EndpointTable, recorder: Recorder): Authentication =>
  new Authentication(start.authentication, {
    objects: new StoredObjects(endpoints),
    clock: systemClock,
    random: Math.random,
    recorder,
  })

/** The object is gone also when a plugin cannot be told of it: those who count mend that later. */
const toldOf = (told: Promise<void>, resource: GroupResource, logger: Logger): Promise<void> =>
  told.catch((error: unknown) => logger.warn({ err: error, resource }, 'a deletion was not counted'))

interface RuledPluginParts {
  readonly cache: CacheClient
  readonly scheme: Scheme
  readonly endpoints: EndpointTable
  readonly objects: ObjectLookup
  readonly authorizer: Authorizer
  readonly recorder: Recorder
  readonly logger: Logger
  readonly tracer: Tracer | undefined
}

/** Plugins that go by rules that users write. */
function ruledPlugins(start: PoolThreadData, { cache, scheme, endpoints, tracer, ...parts }: RuledPluginParts) {
  const shared = {
    cache: (resource: string) => cache.resource(resource),
    kinds: new ServedKinds(scheme, endpoints),
    clock: systemClock,
    ...parts,
  }
  return {
    policies: new PolicyPlugins(shared),
    webhooks: new WebhookPlugins({
      ...shared,
      users: start.admission.webhookUsers,
      egress: start.egress,
      scheme,
      onCall: new PoolPulse(start.pulse).call,
      traced: tracer && tracedCall(tracer),
    }),
  }
}

const tracedCall =
  (tracer: Tracer): TracedCall =>
  (url, call) =>
    tracer.step('Call webhook', { kind: SpanKind.client, attributes: { url } }, (span) =>
      call(span === undefined ? {} : { [TRACE_HEADER]: traceHeader(span.context) }),
    )

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

/** Takes changes in order; each is answered once the next request sees it. */
function followChanges(port: MessagePort, scheme: Scheme, endpoints: EndpointTable): void {
  port.on('message', ({ sequence, change }: ResourceChangeMessage) => {
    scheme.apply(change)
    const groupResource = change.type === 'set' ? change.definition : change.groupResource
    void endpoints.forget(groupResource).then(() => port.postMessage({ sequence } satisfies ResourceChangeAnswer))
  })
  port.unref()
}
