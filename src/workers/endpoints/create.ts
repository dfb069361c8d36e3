/** Thread: pool. POST: decode, default, admit, prepare, validate, store, encode. */

import type { JsonObject } from '../../api/object.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import { newBadRequest } from '../../api/status.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import type { EndpointHandler } from '../../registry/generic/endpoint-handler.js'
import { wipeSystemFields } from '../../registry/generic/system-fields.js'
import { admissionAttributes, admitObject, validateAttempt } from './admission-attributes.js'
import { managerOrUserAgent } from './apply/manager-name.js'
import { decodeBody } from './decode-body.js'
import { encodeResponse, encodeStatus, isStatus } from './encode-response.js'
import { throughMemoryVersion } from './endpoint.js'
import type { WorkerRequest } from './request.js'
import { parseWriteOptions } from './write-options.js'

export async function create(worker: WorkerRequest): Promise<EncodedResponse> {
  const { request, endpoint } = worker
  const options = parseWriteOptions(worker.query, 'CreateOptions')
  if (endpoint.handler?.create !== undefined)
    return createThrough(worker, endpoint.handler.create.bind(endpoint.handler))
  const decoded = decodeBody(endpoint, request.body, {
    contentType: request.contentType,
    fieldValidation: options.fieldValidation,
    addWarning: worker.addWarning,
    noteWholeFloats: worker.noteWholeFloats,
  })
  wipeSystemFields(decoded)
  checkNamespace(decoded, worker)
  const object = await managed(worker, decoded, options.fieldManager)
  const name = metadataOf(object).name ?? ''
  await admitObject(worker, admissionAttributes(worker, 'CREATE', options.dryRun, { object, name }))
  const stored = endpoint.conversion?.toMemoryVersion(object) ?? object
  const created = await endpoint.store.create(worker.context(options.dryRun), stored, (final) =>
    validateAttempt(
      worker,
      admissionAttributes(worker, 'CREATE', options.dryRun, { object: final, name: metadataOf(final).name ?? '' }),
    ),
  )
  return encodeResponse(worker, 201, created)
}

function managed(worker: WorkerRequest, decoded: KubeObject, fieldManager: string): KubeObject | Promise<KubeObject> {
  const { endpoint, request } = worker
  const manager = managerOrUserAgent(fieldManager, request.userAgent)
  const object = throughMemoryVersion(endpoint, decoded) as JsonObject
  const settle = (): KubeObject =>
    endpoint.fieldManager.update(undefined, object, manager, { now: worker.now() }) as KubeObject
  return endpoint.managerConversions?.run(settle, worker.signal) ?? settle()
}

/** For handlers that create something that is not stored as an object of its own: a binding, an eviction, a token. */
async function createThrough(
  worker: WorkerRequest,
  createNamed: NonNullable<EndpointHandler['create']>,
): Promise<EncodedResponse> {
  const { request, endpoint, admission } = worker
  const options = parseWriteOptions(worker.query, 'CreateOptions')
  const decoded = decodeBody(endpoint, request.body, {
    contentType: request.contentType,
    fieldValidation: options.fieldValidation,
    addWarning: worker.addWarning,
  })
  if (endpoint.handler?.keepsSystemFields !== true) wipeSystemFields(decoded)
  checkNamespace(decoded, worker)
  const object =
    endpoint.handler?.recordsManagers === true ? await managed(worker, decoded, options.fieldManager) : decoded
  const name = request.info.name === '' ? (metadataOf(object).name ?? '') : request.info.name
  const attributes = admissionAttributes(worker, 'CREATE', options.dryRun, { object, name })
  await admitObject(worker, attributes)
  const result = await createNamed({
    context: worker.context(options.dryRun),
    name,
    object,
    dryRun: worker.query.getAll('dryRun'),
    validate: (final) =>
      admission.validate(admissionAttributes(worker, 'CREATE', options.dryRun, { object: final, name })),
  })
  return isStatus(result)
    ? encodeStatus(worker, 201, { ...result, code: result.code ?? 201 })
    : encodeResponse(worker, 201, result)
}

function checkNamespace(object: KubeObject, { request, endpoint }: WorkerRequest): void {
  const given = metadataOf(object).namespace ?? ''
  if (!endpoint.info.namespaced || given === '' || given === request.info.namespace) return
  throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request')
}
