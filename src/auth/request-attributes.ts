/** Thread: any. From what a request asks for to the question whether its user may. */
import type { RequestInfo } from '../api/request-info.js'
import type { UserInfo } from '../api/user-info.js'
import type { Attributes } from './interface.js'

/** `verb`: another one than the request's own, when carrying it out needs a second permission. */
export const requestAttributes = (user: UserInfo, info: RequestInfo, verb: string = info.verb): Attributes => ({
  user,
  verb,
  isResourceRequest: info.isResourceRequest,
  namespace: info.namespace,
  apiGroup: info.apiGroup,
  apiVersion: info.apiVersion,
  resource: info.resource,
  subresource: info.subresource,
  name: info.name,
  path: info.path,
})
