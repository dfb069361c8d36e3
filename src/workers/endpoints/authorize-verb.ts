/** Thread: pool. A second permission, found to be needed when a request is carried out. */
import { newInternalError } from '../../api/status.js'
import { newForbiddenRequest } from '../../auth/forbidden.js'
import { requestAttributes } from '../../auth/request-attributes.js'
import type { WorkerRequest } from './request.js'

/** Asks for another verb than the authorized one on the request's own object; throws the 403. */
export async function authorizeVerb(
  { request: { info, user }, authorizer }: WorkerRequest,
  verb: string,
): Promise<void> {
  const attributes = requestAttributes(user, info, verb)
  const { decision, reason, error } = await authorizer.authorize(attributes)
  if (decision === 'allow') return
  if (error !== undefined) throw newInternalError(error)
  throw newForbiddenRequest(attributes, reason)
}
