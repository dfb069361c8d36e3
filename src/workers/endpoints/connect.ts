/** Thread: pool. Requests that are passed on: they are admitted, then the resource says where they go. */
import { newGenericServerResponse } from '../../api/status.js'
import { ownMember } from '../../lib/own-member.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'
import type { ConnectDependencies } from '../../registry/generic/connecter.js'
import { restOf } from '../../registry/rest-table.js'
import { admissionAttributes } from './admission-attributes.js'
import { connectOptions } from './connect-options.js'
import type { WorkerRequest } from './request.js'

/** Where to pass the request on to; undefined when there is nothing to show and never will be. Throws a StatusError. */
export async function connect(
  worker: WorkerRequest,
  dependencies: ConnectDependencies,
): Promise<ConnectPlan | undefined> {
  const { info } = worker.request
  const { connecters } = restOf({ group: info.apiGroup, resource: info.resource })
  const connecter = ownMember(connecters, info.subresource)
  if (connecter === undefined) throw newGenericServerResponse(404)
  if (connecter.admission !== 'none') await admit(worker, dependencies)
  return connecter.connect({ info, query: worker.query, context: worker.context(false) }, dependencies)
}

/** Admission sees a CONNECT too; the object that it is shown are the options of the request. */
async function admit(worker: WorkerRequest, dependencies: ConnectDependencies): Promise<void> {
  const { info } = worker.request
  const own = worker.endpoint.info.subresources.find(({ name }) => name === info.subresource)
  const { group = '', version = 'v1', kind = '' } = own ?? {}
  const schema = dependencies.schemas.kind(group, version, kind)
  const object = connectOptions({ group, version, kind }, schema, worker.query, info.proxied?.rest)
  const objects = { object, name: info.name }
  const attributes = { ...admissionAttributes(worker, 'CONNECT', false, objects), kind: { group, version, kind } }
  await worker.admission.admit(attributes)
  await worker.admission.validate(attributes)
}
