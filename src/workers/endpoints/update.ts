/** Thread: pool. PUT: the whole object replaced, inside the storage's transaction. */
import { deepCopy, type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import { newBadRequest } from '../../api/status.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import type { Store } from '../../registry/generic/store.js'
import { admissionAttributes, validateAttempt } from './admission-attributes.js'
import { managerOrUserAgent } from './apply/manager-name.js'
import { authorizeVerb } from './authorize-verb.js'
import { decodeBody } from './decode-body.js'
import { encodeResponse } from './encode-response.js'
import type { Endpoint } from './endpoint.js'
import { throughHub } from './endpoint.js'
import type { WorkerRequest } from './request.js'
import { parseWriteOptions } from './write-options.js'

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
  const manager = managerOrUserAgent(options.fieldManager, request.userAgent)
  const { uid } = metadataOf(decoded)
  const { object, created } = await updaterOf(endpoint).update(
    worker.context(options.dryRun),
    name,
    {
      ...(uid === undefined || uid === '' ? {} : { preconditions: { uid } }),
      updatedObject: (existing) =>
        updatedObject(worker, existing, deepCopy(decoded), { manager, dryRun: options.dryRun }),
    },
    validations(worker, options.dryRun, name),
  )
  return encodeResponse(worker, created ? 201 : 200, object)
}

/** Who updates: the endpoint's own handler, or the store. */
export function updaterOf({ handler, store }: Endpoint): Pick<Store, 'update'> {
  return handler?.update === undefined ? store : { update: handler.update }
}

/** What every way of updating does to the object that a client wants: managers, then mutating admission. */
export async function updatedObject(
  worker: WorkerRequest,
  existing: KubeObject,
  wanted: KubeObject,
  { manager, dryRun }: { readonly manager: string; readonly dryRun: boolean },
): Promise<KubeObject> {
  const { endpoint, admission } = worker
  const exists = metadataOf(existing).resourceVersion !== undefined
  const live = exists ? (endpoint.conversion?.fromHub(deepCopy(existing)) ?? existing) : undefined
  const given = throughHub(endpoint, wanted) as JsonObject
  const object = endpoint.fieldManager.update(live as JsonObject | undefined, given, manager, {
    now: worker.now(),
  }) as KubeObject
  const objects = { object, name: worker.request.info.name, ...(exists ? { oldObject: existing } : {}) }
  await admission.admit(admissionAttributes(worker, exists ? 'UPDATE' : 'CREATE', dryRun, objects))
  return endpoint.conversion?.toHub(object) ?? object
}

export function validations(worker: WorkerRequest, dryRun: boolean, name: string) {
  return {
    create: async (object: KubeObject) => {
      // Who may update or apply may not create by it.
      await authorizeVerb(worker, 'create')
      await validateAttempt(worker, admissionAttributes(worker, 'CREATE', dryRun, { object, name }))
    },
    update: (object: KubeObject, oldObject: KubeObject) =>
      validateAttempt(worker, admissionAttributes(worker, 'UPDATE', dryRun, { object, oldObject, name })),
  }
}

/** Also of what a subresource speaks, which no store sees. */
export function checkNamespace({ request: { info }, endpoint }: WorkerRequest, object: KubeObject): void {
  const { namespace = '' } = metadataOf(object)
  if (namespace !== '' && namespace !== info.namespace && endpoint.info.namespaced)
    throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** The object's name is the path's; one that says otherwise is a mistake. */
export function checkName(object: KubeObject, name: string): void {
  const metadata = metadataOf(object)
  if ((metadata.name ?? '') === '') throw newBadRequest('name must be provided')
  if (metadata.name !== name)
    throw newBadRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
}
