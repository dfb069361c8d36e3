/** Thread: main. From method, path and query to what is asked for. The rules are those of Kubernetes' RequestInfoFactory. */

import { parseFieldSelector } from '../../api/fields.js'
import { SelectorError } from '../../api/labels.js'
import { parseBoolean } from '../../api/list-options.js'
import type { RequestInfo } from '../../api/request-info.js'
import { pathSegmentName } from '../../api/validation/names.js'
import { lookupTable } from '../../lib/lookup-table.js'
import { PathSegments } from './path-segments.js'

/** Below a namespace's own path these are the namespace's subresources, not resources in it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])

/** The parts of a path that names a subresource: resource, name and subresource. */
const SUBRESOURCE_PARTS = 3

/** The query of requests without one; it is shared, because nobody changes a query. */
export const NO_QUERY = new URLSearchParams()

const VERBS: Readonly<Record<string, string>> = lookupTable({
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
})

/** The info of a request whose path says nothing, or is not understood. */
export const NO_REQUEST_INFO: RequestInfo = {
  isResourceRequest: false,
  path: '',
  verb: '',
  apiPrefix: '',
  apiGroup: '',
  apiVersion: '',
  namespace: '',
  resource: '',
  subresource: '',
  name: '',
  parts: [],
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/**
 * `rawPath` is as the client encoded it, and is read here and nowhere else: what is authorized and what is carried out, the
 * path that a proxy passes on included, are parts of what this returns. Throws BadRequest.
 */
export function resolveRequestInfo(method: string, rawPath: string, query: URLSearchParams): RequestInfo {
  const segments = new PathSegments(rawPath)
  const info: Mutable<RequestInfo> = { ...NO_REQUEST_INFO, path: segments.path, verb: method.toLowerCase() }
  let parts = segments.decoded
  if (parts.length < 3) return info
  const [prefix] = parts
  if (prefix !== 'api' && prefix !== 'apis') return info
  if (prefix === 'apis' && parts.length < 4) return info
  info.apiPrefix = prefix
  info.isResourceRequest = true
  info.apiGroup = prefix === 'apis' ? parts[1]! : ''
  info.apiVersion = prefix === 'apis' ? parts[2]! : parts[1]!
  parts = parts.slice(prefix === 'apis' ? 3 : 2)
  info.verb = VERBS[method] ?? ''
  // The legacy forms /watch/… and /proxy/… name their verb in the path.
  if (parts[0] === 'watch' || parts[0] === 'proxy') {
    if (parts.length < 2) return { ...info, isResourceRequest: false, verb: method.toLowerCase() }
    info.verb = parts[0]
    parts = parts.slice(1)
  }
  fillResource(info, parts)
  if (info.subresource === 'proxy')
    info.proxied = segments.cutAfter(segments.decoded.length - info.parts.length + SUBRESOURCE_PARTS)
  // Without a name the request is for a collection.
  if (info.name === '' && info.verb === 'get') {
    info.verb = parseBoolean(query.get('watch')) ? 'watch' : 'list'
    info.name = singleName(query.get('fieldSelector') ?? '')
  } else if (info.name === '' && info.verb === 'delete') info.verb = 'deletecollection'
  return info
}

function fillResource(info: Mutable<RequestInfo>, given: readonly string[]): void {
  let parts = given
  if (parts[0] === 'namespaces' && parts.length > 1) {
    info.namespace = parts[1]!
    if (parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)) parts = parts.slice(2)
  }
  info.parts = parts
  info.resource = parts[0] ?? ''
  info.name = parts[1] ?? ''
  if (parts.length > 2 && info.verb !== 'proxy') info.subresource = parts[2]!
}

/** A selector for one name makes the request one for that object: authorization by name then applies. */
function singleName(fieldSelector: string): string {
  if (!fieldSelector.includes('metadata.name')) return ''
  try {
    const name = parseFieldSelector(fieldSelector).requiresExactMatch('metadata.name') ?? ''
    return pathSegmentName(name, false).length === 0 ? name : ''
  } catch (error) {
    // The request will fail for its selector; until then it counts as one for all objects.
    if (error instanceof SelectorError) return ''
    throw error
  }
}
