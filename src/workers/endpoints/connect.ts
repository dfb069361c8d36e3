/** Thread: pool. Requests that are passed on: admission, then the resource says where to. */
import { formatGroupVersion } from '../../api/group-version.js'
import type { JsonObject, KubeObject } from '../../api/object.js'
import { newGenericServerResponse } from '../../api/status.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'
import type { ConnectDependencies } from '../../registry/generic/connecter.js'
import { restOf } from '../../registry/rest-table.js'
import { admissionAttributes } from './admission-attributes.js'
import type { WorkerRequest } from './request.js'

/** Where to pass the request on to; undefined when there is nothing to show and never will be. Throws a StatusError. */
export async function connect(
  worker: WorkerRequest,
  dependencies: ConnectDependencies,
): Promise<ConnectPlan | undefined> {
  const { info } = worker.request
  const connecter = restOf({ group: info.apiGroup, resource: info.resource }).connecters?.[info.subresource]
  if (connecter === undefined) throw newGenericServerResponse(404)
  if (connecter.admission !== 'none') await admit(worker)
  return connecter.connect({ info, query: worker.query, context: worker.context(false) }, dependencies)
}

/** Admission sees a CONNECT too; the object that it is shown are the options of the request. */
async function admit(worker: WorkerRequest): Promise<void> {
  const { info } = worker.request
  const own = worker.endpoint.info.subresources.find(({ name }) => name === info.subresource)
  const { group = '', version = 'v1', kind = '' } = own ?? {}
  const object: JsonObject = { kind, apiVersion: formatGroupVersion({ group, version }) }
  for (const key of new Set(worker.query.keys())) object[key] = worker.query.get(key)
  const objects = { object: object as KubeObject, name: info.name }
  const attributes = { ...admissionAttributes(worker, 'CONNECT', false, objects), kind: { group, version, kind } }
  await worker.admission.admit(attributes)
  await worker.admission.validate(attributes)
}
