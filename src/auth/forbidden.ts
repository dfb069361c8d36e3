/** Thread: any. What a user is told who may not: in Kubernetes' words, because people search for them. */
import { newForbidden, type StatusError } from '../api/status.js'
import type { Attributes } from './interface.js'

/** Nobody allowed the request, and an authorizer failed: that is not the client's fault. */
export class AuthorizationFailed extends Error {
  override readonly name = 'AuthorizationFailed'
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** The text may end up on a page, so characters of markup are escaped. */
export const withoutMarkup = (text: string): string => text.replace(/[&<>]/g, (c) => ESCAPES[c]!)

export function newForbiddenRequest(attributes: Attributes, reason: string): StatusError {
  const { apiGroup, resource, name } = attributes
  const message = withoutMarkup(describe(attributes))
  return newForbidden({ group: apiGroup, resource }, name, reason === '' ? message : `${message}: ${reason}`)
}

function describe({ user, verb, isResourceRequest, path, apiGroup, namespace, ...named }: Attributes): string {
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`
  if (!isResourceRequest) return `${who} path ${JSON.stringify(path)}`
  const resource = named.subresource === '' ? named.resource : `${named.resource}/${named.subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  return `${who} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(apiGroup)} ${where}`
}
