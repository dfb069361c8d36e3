/** Thread: main. The resources that are served now, by path; replaced as a whole when one is added or removed. */
import type { RequestInfo } from '../../api/request-info.js'
import { newGenericServerResponse } from '../../api/status.js'
import type { ServedResource } from './served-resource.js'

/** Who a request is for, or why it is for nobody. */
export type Resolution = ServedResource | 'no-group' | 'no-resource'

export class ResourceTable {
  readonly #byPath: ReadonlyMap<string, ServedResource>
  readonly #groups: ReadonlySet<string>

  constructor(resources: readonly ServedResource[]) {
    this.#byPath = new Map(resources.map((r) => [`${r.info.group}/${r.info.version}/${r.info.resource}`, r]))
    this.#groups = new Set(resources.map((r) => r.info.group))
  }

  find({ group, version, resource }: ServedResource['info']): ServedResource | undefined {
    return this.#byPath.get(`${group}/${version}/${resource}`)
  }

  resolve(info: RequestInfo): Resolution {
    const resource = this.#byPath.get(`${info.apiGroup}/${info.apiVersion}/${info.resource}`)
    if (resource === undefined) return this.#groups.has(info.apiGroup) ? 'no-resource' : 'no-group'
    return resource
  }
}

const COLLECTION_VERBS: ReadonlySet<string> = new Set(['list', 'watch', 'create', 'deletecollection'])
const OBJECT_VERBS: ReadonlySet<string> = new Set(['update', 'patch', 'delete'])

/**
 * Throws the 404 of paths that begin with /watch/ or /proxy/ where there is nothing: the first exist for GET of collections
 * and names, the second not at all. Their verb stands in the path, so whoever may watch would else run commands by them.
 */
export function checkLegacyPath(info: RequestInfo, method: string): void {
  if (info.verb === 'watch' ? method !== 'GET' || info.subresource !== '' : info.verb === 'proxy')
    throw newGenericServerResponse(404)
}

/** Throws the 404 or 405 that a path deserves whose shape or verb the resource does not have. */
export function checkShape(info: RequestInfo, resource: ServedResource, nameInPath: boolean): void {
  const { namespaced, verbs, subresources } = resource.info
  if (!namespaced && info.namespace !== '' && !isOwnNamespace(info, nameInPath)) throw newGenericServerResponse(404)
  if (namespaced && info.namespace === '' && nameInPath) throw newGenericServerResponse(404)
  if (info.parts.length > 3 && !takesSubpath(resource, info.subresource)) throw newGenericServerResponse(404)
  if (info.subresource !== '') {
    const subresource = subresources.find((s) => s.name === info.subresource)
    if (subresource === undefined) throw newGenericServerResponse(404)
    // HEAD and OPTIONS are passed on like any other method.
    const any = takesSubpath(resource, subresource.name) && (info.verb === '' || info.verb === 'get')
    if (!any && !subresource.verbs.includes(info.verb)) throw newGenericServerResponse(405)
    return
  }
  if (!verbs.includes(info.verb)) throw newGenericServerResponse(405)
  if (!nameInPath && OBJECT_VERBS.has(info.verb)) throw newGenericServerResponse(405)
  if (nameInPath && COLLECTION_VERBS.has(info.verb) && info.verb !== 'watch') throw newGenericServerResponse(405)
  if (namespaced && info.namespace === '' && (info.verb === 'create' || info.verb === 'deletecollection'))
    throw newGenericServerResponse(405)
}

const takesSubpath = ({ connects }: ServedResource, subresource: string): boolean =>
  Object.hasOwn(connects, subresource) && connects[subresource]?.subpath === true

/**
 * A namespace is authorized in itself, so that its owner may see it. Only in itself: below the path of another one it would
 * be authorized there and not here.
 */
const isOwnNamespace = ({ resource, namespace, name }: RequestInfo, nameInPath: boolean): boolean =>
  resource === 'namespaces' && nameInPath && namespace === name
