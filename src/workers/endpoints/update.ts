/** Thread: pool. PUT: the whole object replaced, inside the storage's transaction. */
import { deepCopy, type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import { newBadRequest } from '../../api/status.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import type { RegistryStore } from '../../registry/generic/registry-store.js'
import { admissionAttributes, admitObject, validateAttempt } from './admission-attributes.js'
import { managerOrUserAgent } from './apply/manager-name.js'
import { authorizeVerb } from './authorize-verb.js'
import { decodeBody } from './decode-body.js'
import { encodeResponse } from './encode-response.js'
import type { Endpoint } from './endpoint.js'
import { throughMemoryVersion } from './endpoint.js'
import type { WorkerRequest } from './request.js'
import { parseWriteOptions, type WriteOptions } from './write-options.js'

export async function update(worker: WorkerRequest): Promise<EncodedResponse> {
  const { request, endpoint } = worker
  const { name } = request.info
  const options = parseWriteOptions(worker.query, 'UpdateOptions')
  const decoded = decodeBody(endpoint, request.body, {
    contentType: request.contentType,
    fieldValidation: options.fieldValidation,
    addWarning: worker.addWarning,
    noteEmptied: worker.noteEmptied,
  })
  checkNamespace(worker, decoded)
  checkName(decoded, name)
  const { object, created } = await replace(worker, decoded, options)
  return encodeResponse(worker, created ? 201 : 200, object)
}

/** Puts a decoded object in the place of the stored one, or creates it where PUT may. */
export function replace(
  worker: WorkerRequest,
  decoded: KubeObject,
  { fieldManager, dryRun }: Pick<WriteOptions, 'fieldManager' | 'dryRun'>,
): ReturnType<RegistryStore['update']> {
  const { request, endpoint } = worker
  const { name } = request.info
  const manager = managerOrUserAgent(fieldManager, request.userAgent)
  const { uid } = metadataOf(decoded)
  return updaterOf(endpoint).update(
    worker.context(dryRun),
    name,
    {
      ...(uid === undefined || uid === '' ? {} : { preconditions: { uid } }),
      updatedObject: (existing) => updatedObject(worker, existing, deepCopy(decoded), { manager, dryRun }),
    },
    validations(worker, dryRun, name),
  )
}

/** The endpoint's own handler when it updates, else the store. */
export function updaterOf({ handler, store }: Endpoint): Pick<RegistryStore, 'update'> {
  return handler?.update === undefined ? store : { update: handler.update }
}

/**
 * What every way of updating does to the object that a client wants: it settles the managers, then runs mutating
 * admission.
 */
export async function updatedObject(
  worker: WorkerRequest,
  existing: KubeObject,
  wanted: KubeObject,
  { manager, dryRun }: { readonly manager: string; readonly dryRun: boolean },
): Promise<KubeObject> {
  const { endpoint } = worker
  const exists = metadataOf(existing).resourceVersion !== undefined
  const live = exists ? (endpoint.conversion?.fromMemoryVersion(deepCopy(existing)) ?? existing) : undefined
  const given = throughMemoryVersion(endpoint, wanted) as JsonObject
  const settle = (): KubeObject =>
    endpoint.fieldManager.update(live as JsonObject | undefined, given, manager, { now: worker.now() }) as KubeObject
  const object = await (endpoint.managerConversions?.run(settle, worker.signal) ?? settle())
  const objects = { object, name: worker.request.info.name, ...(exists ? { oldObject: existing } : {}) }
  await admitObject(worker, admissionAttributes(worker, exists ? 'UPDATE' : 'CREATE', dryRun, objects))
  return endpoint.conversion?.toMemoryVersion(object) ?? object
}

export function validations(worker: WorkerRequest, dryRun: boolean, name: string) {
  return {
    create: async (object: KubeObject) => {
      // The right to update or apply is not the right to create.
      await authorizeVerb(worker, 'create')
      await validateAttempt(worker, admissionAttributes(worker, 'CREATE', dryRun, { object, name }))
    },
    update: (object: KubeObject, oldObject: KubeObject) =>
      validateAttempt(worker, admissionAttributes(worker, 'UPDATE', dryRun, { object, oldObject, name })),
  }
}

/** Checks the namespace also of objects that a subresource speaks of, which no store sees. */
export function checkNamespace({ request: { info }, endpoint }: WorkerRequest, object: KubeObject): void {
  const { namespace = '' } = metadataOf(object)
  if (namespace !== '' && namespace !== info.namespace && endpoint.info.namespaced)
    throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** The object's name is that of the path; an object that says otherwise is refused. */
export function checkName(object: KubeObject, name: string): void {
  const metadata = metadataOf(object)
  if ((metadata.name ?? '') === '') throw newBadRequest('name must be provided')
  if (metadata.name !== name)
    throw newBadRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
}
