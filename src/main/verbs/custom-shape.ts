/**
 * Thread: main. Decides which paths and verbs a custom resource has. Kubernetes registers no routes for custom
 * resources: one handler looks at the request, and answers what it does not serve with the 404 of an unknown path.
 * Other resources are checked in resource-table.ts.
 */
import type { RequestInfo } from '../../api/request-info.js'
import { newBadRequest, newMethodNotSupported, newNotFound } from '../../api/status.js'
import type { ServedResource } from './served-resource.js'

const ACROSS_NAMESPACES: ReadonlySet<string> = new Set(['list', 'watch'])
const NAMED_VERBS: ReadonlySet<string> = new Set(['update', 'patch', 'delete'])

/** Whether the resource has such a path; if so, throws for a subresource or a verb that it lacks. */
export function takesCustomPath(
  info: RequestInfo,
  { info: { namespaced, verbs, subresources } }: ServedResource,
): boolean {
  if (!namespaced && info.namespace !== '') return false
  if (namespaced && info.namespace === '' && !ACROSS_NAMESPACES.has(info.verb)) return false
  // A name without its namespace (/watch/things/name) would be authorized by that name and show all namespaces.
  if (namespaced && info.namespace === '' && info.parts.length > 1) return false
  const groupResource = { group: info.apiGroup, resource: info.resource }
  const part = info.subresource === '' ? undefined : subresources.find(({ name }) => name === info.subresource)
  if (info.subresource !== '' && part === undefined) throw newNotFound(groupResource, info.name)
  if (!(part?.verbs ?? verbs).includes(info.verb)) throw newMethodNotSupported(groupResource, info.verb)
  if (info.name === '' && NAMED_VERBS.has(info.verb)) throw newBadRequest('name must be provided')
  return true
}
