/** Thread: pool. The tasks of a worker: every failure becomes a Status here, because Errors do not survive a crossing. */
import type { AdmissionChain } from '../../admission/chain.js'
import { parseGroupVersion } from '../../api/group-version.js'
import { encodeUntyped } from '../../api/json/encode.js'
import { negotiate, PLAIN_JSON } from '../../api/media-type.js'
import type { Json, KubeObject } from '../../api/object.js'
import type { RequestInfo } from '../../api/request-info.js'
import {
  NotServed,
  newGenericServerResponse,
  newInternalError,
  newServiceUnavailable,
  StatusError,
  UNKNOWN_PATH,
} from '../../api/status.js'
import { statusBody } from '../../api/status-body.js'
import { bootstrapPolicy } from '../../auth/authz/bootstrap/bootstrap-policy.js'
import type { Authorizer } from '../../auth/interface.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import {
  type AccessReport,
  type ConnectAnswer,
  type Converted,
  type EncodedResponse,
  type EventConversion,
  NO_SLOT,
  type PoolRequest,
  type PoolResult,
  type PoolTaskName,
  type SlottedTask,
  type StorageWatchRequest,
} from '../../protocol/main-pool.js'
import type { ServiceRegistry } from '../../registry/core/services/service-registry.js'
import type { SpanOptions, Tracer } from '../../tracing/tracer.js'
import { connect } from '../endpoints/connect.js'
import { create } from '../endpoints/create.js'
import { deleteCollection, deleteObject } from '../endpoints/delete.js'
import { acceptedOf, offeredForms } from '../endpoints/encode-response.js'
import type { Endpoint } from '../endpoints/endpoint.js'
import type { EndpointTable } from '../endpoints/endpoint-table.js'
import { openApiDocument } from '../endpoints/openapi-document.js'
import { patch } from '../endpoints/patch.js'
import { read } from '../endpoints/read.js'
import { WorkerRequest } from '../endpoints/request.js'
import { shownObject } from '../endpoints/shown-object.js'
import { cellsLastMs, columnsOf } from '../endpoints/table.js'
import { replace, update } from '../endpoints/update.js'
import { watch } from '../endpoints/watch.js'
import { decodeMemory } from '../scheme/memory-body.js'
import type { Scheme } from '../scheme/scheme.js'
import { AccessBootstrap } from './access-bootstrap.js'
import { DefinitionKeeper } from './definition-keeper.js'
import type { MasterLeases } from './master-leases.js'
import type { ObjectLookup } from './object-lookup.js'
import type { RequestCancellation, RequestsUnderWay } from './requests-under-way.js'
import type { RulesInForce } from './rules-in-force.js'

const definitionChanged = () => newServiceUnavailable('the definition of the resource has changed meanwhile')

function unknownPath(): EncodedResponse {
  const { text, ...head } = UNKNOWN_PATH
  return { ...head, warnings: [], body: new TextEncoder().encode(text) }
}

export interface PoolWorkerOptions {
  readonly endpoints: EndpointTable
  readonly admission: AdmissionChain
  readonly objects: ObjectLookup
  readonly authorizer: Authorizer
  readonly clock: Clock
  readonly logger: Logger
  readonly deleteCollectionWorkers: number
  readonly services: () => ServiceRegistry
  readonly masterLeases: () => MasterLeases
  readonly scheme: Scheme
  readonly underWay: RequestsUnderWay
  readonly inForce: RulesInForce
  /** Absent when nothing is traced. */
  readonly tracer?: Tracer | undefined
}

/** As kube-apiserver calls what it does for each verb. */
const spanName = ({ verb }: RequestInfo): string => `${verb.slice(0, 1).toUpperCase()}${verb.slice(1)}`

const spanOptions = ({ info, body, auditId, contentType }: PoolRequest): SpanOptions => ({
  attributes: { 'audit-id': auditId, resource: info.resource, 'request.bytes': body.byteLength, contentType },
})

export class PoolWorker {
  readonly #options: PoolWorkerOptions

  constructor(options: PoolWorkerOptions) {
    this.#options = options
  }

  async run(task: SlottedTask): Promise<PoolResult<PoolTaskName>> {
    const { masterLeases } = this.#options
    switch (task.type) {
      case 'repairServices':
        return [...(await this.#options.services().repair(new Map(task.input.leaks)))]
      case 'holdMasterLease':
        await masterLeases().hold(task.input.ip, task.input.ttlSeconds)
        return masterLeases().list()
      case 'dropMasterLease':
        await masterLeases().drop(task.input.ip)
        return masterLeases().list()
      case 'connect':
        return this.#connect(task.input, task.slot)
      case 'convert':
        return this.#convert(task.input)
      case 'tableColumns':
        return this.#tableColumns(task.input.resource, task.input.apiVersion)
      case 'watch':
        return this.#watch(task.input)
      case 'settleDefinition':
        return this.#definitions().settle(task.input.name, task.input.taken)
      case 'finalizeDefinition':
        return this.#definitions().finalize(task.input.name)
      case 'bootstrapAccess':
        return this.#bootstrapAccess()
      case 'document':
        return openApiDocument(task.input, this.#options.scheme)
      default:
        return this.#serve(task.type, task.input, task.slot)
    }
  }

  #serve(type: 'read' | 'write', request: PoolRequest, slot: number): Promise<EncodedResponse> {
    const { tracer, underWay } = this.#options
    const work = (): Promise<EncodedResponse> =>
      underWay.run(slot, request.deadlineMs, (signal) => this.#answer(type, request, signal))
    if (tracer === undefined || request.trace === undefined) return work()
    return tracer.within(tracer.below(request.trace, spanName(request.info), spanOptions(request)), work)
  }

  async #answer(type: 'read' | 'write', request: PoolRequest, signal: RequestCancellation): Promise<EncodedResponse> {
    let worker: WorkerRequest | undefined
    try {
      const { endpoints } = this.#options
      if (signal.aborted) throw signal.reason
      const endpoint = endpoints.find(request.info)
      worker = new WorkerRequest(request, endpoint, this.#options, signal)
      const answer = type === 'read' ? read(worker) : this.#write(worker)
      const response = await (endpoint.info.definitionHash === undefined
        ? answer
        : endpoints.underWay(endpoint, answer, () => signal.abort(definitionChanged())))
      if (type === 'write') await this.#options.inForce.reached(request.info)
      await worker.settle(true)
      return worker.withAnnotations(response)
    } catch (error) {
      // A request that was given up is answered with the reason for that, whatever it failed with afterwards.
      const response = this.#failure(signal.aborted ? signal.reason : error, request, worker)
      // A storage that does not answer may have written all the same.
      await worker?.settle(response.status >= 500)
      return worker === undefined ? response : worker.withAnnotations(response)
    }
  }

  /** A PUT of this server's own, of an object that it holds already: no bytes are made of it, sent and read again. */
  #replace(request: PoolRequest, wanted: KubeObject): Promise<KubeObject> {
    return this.#options.underWay.run(NO_SLOT, request.deadlineMs, async (signal) => {
      const worker = new WorkerRequest(request, this.#options.endpoints.find(request.info), this.#options, signal)
      try {
        const { object } = await replace(worker, wanted, { fieldManager: '', dryRun: false })
        await this.#options.inForce.reached(request.info)
        await worker.settle(true)
        return object
      } catch (error) {
        // A storage that does not answer may have written all the same.
        await worker.settle(!(error instanceof StatusError) || error.code >= 500)
        throw signal.aborted ? signal.reason : error
      }
    })
  }

  #definitions(): DefinitionKeeper {
    const { endpoints, scheme, clock, deleteCollectionWorkers } = this.#options
    return new DefinitionKeeper({
      endpoints,
      scheme,
      now: () => clock.now(),
      replace: (request, object) => this.#replace(request, object),
      deleteWorkers: deleteCollectionWorkers,
    })
  }

  #bootstrapAccess(): Promise<AccessReport> {
    const { objects, clock } = this.#options
    return new AccessBootstrap({
      lookup: objects,
      policy: bootstrapPolicy(),
      now: () => clock.now(),
      write: (request) => this.#serve('write', request, NO_SLOT),
    }).run()
  }

  #connect(request: PoolRequest, slot: number): Promise<ConnectAnswer> {
    return this.#options.underWay.run(slot, request.deadlineMs, (signal) => this.#plan(request, signal))
  }

  async #plan(request: PoolRequest, signal: CancelSignal): Promise<ConnectAnswer> {
    let worker: WorkerRequest | undefined
    try {
      const { endpoints } = this.#options
      worker = new WorkerRequest(request, endpoints.find({ ...request.info, subresource: '' }), this.#options, signal)
      const plan = await connect(worker, endpoints.dependencies)
      if (plan !== undefined) return { plan }
      return { response: { status: 204, contentType: '', warnings: [], headers: [], body: new Uint8Array() } }
    } catch (error) {
      const response = this.#failure(error, request, worker)
      return { response: worker === undefined ? response : worker.withAnnotations(response) }
    }
  }

  #write(worker: WorkerRequest): Promise<EncodedResponse> {
    // The form of the answer is looked at first: what could not be shown afterwards is not carried out.
    acceptedOf(worker)
    switch (worker.request.info.verb) {
      case 'create':
        return create(worker)
      case 'update':
        return update(worker)
      case 'patch':
        return patch(worker)
      case 'delete':
        return deleteObject(worker)
      case 'deletecollection':
        return deleteCollection(worker, this.#options.deleteCollectionWorkers)
      default:
        throw newGenericServerResponse(405)
    }
  }

  #endpoint(resource: string, apiVersion: string): Endpoint {
    const { group, version } = parseGroupVersion(apiVersion)!
    const name = resource.split('.')[0]!
    return this.#options.endpoints.find({ apiGroup: group, apiVersion: version, resource: name, subresource: '' })
  }

  #tableColumns(resource: string, apiVersion: string): Uint8Array {
    const columns = columnsOf(this.#endpoint(resource, apiVersion).rules)
    return Buffer.from(encodeUntyped(columns as unknown as Json))
  }

  /** Makes rows, metadata or protobuf of the objects of events and lists. */
  async #convert({ apiVersion, resource, mediaType, include, shape, bodies }: EventConversion): Promise<Converted> {
    const endpoint = this.#endpoint(resource, apiVersion)
    const negotiated = negotiate(mediaType, offeredForms(endpoint))
    const accepted = typeof negotiated === 'string' ? PLAIN_JSON : negotiated
    const form = { accepted, include, shape, nowMs: this.#options.clock.now() }
    const isTable = accepted.transformation?.as === 'Table'
    const shown: Uint8Array[] = []
    const freshForMs: number[] = []
    const schema = endpoint.custom === undefined ? endpoint.memorySchema : undefined
    const inMemory = bodies.map((body) => decodeMemory(body, schema))
    const { converter } = endpoint
    let objects = inMemory
    try {
      if (converter !== undefined) objects = await converter.convertStored(inMemory, apiVersion)
    } catch (error) {
      if (error instanceof StatusError) return { shown, refusal: error.status }
      throw error
    }
    for (const object of objects) {
      shown.push(shownObject(endpoint, object, form))
      if (isTable)
        freshForMs.push(
          cellsLastMs(endpoint.conversion?.fromMemoryVersion(object) ?? object, endpoint.rules, form.nowMs),
        )
    }
    return isTable ? { shown, freshForMs } : { shown }
  }

  /** Gives undefined when the watch is open, else what the client is told. */
  async #watch({ request, port }: StorageWatchRequest): Promise<EncodedResponse | undefined> {
    let worker: WorkerRequest | undefined
    try {
      worker = new WorkerRequest(request, this.#options.endpoints.find(request.info), this.#options)
      await watch(worker, port)
      return undefined
    } catch (error) {
      port.close()
      return this.#failure(error, request, worker)
    }
  }

  #failure(error: unknown, request: PoolRequest, worker: WorkerRequest | undefined): EncodedResponse {
    if (error instanceof NotServed) return unknownPath()
    if (!(error instanceof StatusError)) {
      this.#options.logger.error(
        { err: error, path: request.info.path, verb: request.info.verb, auditId: request.auditId },
        'request failed',
      )
    }
    const { status } =
      error instanceof StatusError ? error : newInternalError(error instanceof Error ? error.message : String(error))
    const retryAfter = status.details?.retryAfterSeconds
    return {
      status: status.code ?? 500,
      warnings: worker?.warnings ?? [],
      headers: retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)],
      ...statusBody(status, request.accept),
    }
  }
}
