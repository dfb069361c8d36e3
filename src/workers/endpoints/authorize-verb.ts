/** Thread: pool. A second permission, found to be needed when a request is carried out. */
import { newInternalError } from '../../api/status.js'
import { newForbiddenRequest } from '../../auth/forbidden.js'
import type { Attributes } from '../../auth/interface.js'
import type { WorkerRequest } from './request.js'

/** The request's own object, with another verb than the one that was authorized before; throws the 403. */
export async function authorizeVerb(
  { request: { info, user }, authorizer }: WorkerRequest,
  verb: string,
): Promise<void> {
  const attributes: Attributes = {
    user,
    verb,
    isResourceRequest: true,
    namespace: info.namespace,
    apiGroup: info.apiGroup,
    apiVersion: info.apiVersion,
    resource: info.resource,
    subresource: info.subresource,
    name: info.name,
    path: info.path,
  }
  const { decision, reason, error } = await authorizer.authorize(attributes)
  if (decision === 'allow') return
  if (error !== undefined) throw newInternalError(error)
  throw newForbiddenRequest(attributes, reason)
}
