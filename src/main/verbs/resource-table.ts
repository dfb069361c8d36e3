/** Thread: main. The resources that are served now, by path. */
import { formatGroupResource } from '../../api/group-version.js'
import type { RequestInfo } from '../../api/request-info.js'
import { newGenericServerResponse } from '../../api/status.js'
import type { ServedResource } from './served-resource.js'

/** The resource that a request is for, or why there is none. */
export type Resolution = ServedResource | 'no-group' | 'no-resource'

export class ResourceTable {
  readonly #byPath: Map<string, ServedResource>
  /** The versions of each defined resource, by its name. */
  readonly #custom = new Map<string, readonly ServedResource[]>()
  /**
   * The groups of built-in resources. An unknown resource in one of them is 'no-resource'; any other group is
   * 'no-group', also one that only custom resources have.
   */
  readonly #groups: ReadonlySet<string>

  constructor(resources: readonly ServedResource[]) {
    this.#byPath = new Map(resources.map((resource) => [pathOf(resource.info), resource]))
    for (const resource of resources) {
      const name = formatGroupResource(resource.info)
      if (resource.isCustom) this.#custom.set(name, [...(this.#custom.get(name) ?? []), resource])
    }
    this.#groups = new Set(resources.filter((r) => !r.isCustom).map((r) => r.info.group))
  }

  /** Replaces the served versions of a defined resource; an empty list removes it. */
  change(name: string, versions: readonly ServedResource[]): void {
    for (const { info } of this.#custom.get(name) ?? []) this.#byPath.delete(pathOf(info))
    for (const resource of versions) this.#byPath.set(pathOf(resource.info), resource)
    if (versions.length === 0) this.#custom.delete(name)
    else this.#custom.set(name, versions)
  }

  find(info: ServedResource['info']): ServedResource | undefined {
    return this.#byPath.get(pathOf(info))
  }

  resolve(info: RequestInfo): Resolution {
    const resource = this.#byPath.get(`${info.apiGroup}/${info.apiVersion}/${info.resource}`)
    if (resource === undefined) return this.#groups.has(info.apiGroup) ? 'no-resource' : 'no-group'
    return resource
  }
}

const pathOf = ({ group, version, resource }: ServedResource['info']): string => `${group}/${version}/${resource}`

const COLLECTION_VERBS: ReadonlySet<string> = new Set(['list', 'watch', 'create', 'deletecollection'])
const OBJECT_VERBS: ReadonlySet<string> = new Set(['update', 'patch', 'delete'])

/**
 * Throws a 404 for paths below /watch/ and /proxy/ that do not exist: /watch/ exists for GET of collections and names,
 * /proxy/ not at all. The verb that is authorized comes from such a path, not from the method; without this check,
 * whoever may watch a resource could reach subresources that run commands.
 */
export function checkLegacyPath(info: RequestInfo, method: string): void {
  if (info.verb === 'watch' ? method !== 'GET' || info.subresource !== '' : info.verb === 'proxy')
    throw newGenericServerResponse(404)
}

/** Throws a 404 or 405 for a path whose shape or verb the resource does not have. */
export function checkShape(info: RequestInfo, resource: ServedResource, nameInPath: boolean): void {
  const { namespaced, verbs, subresources } = resource.info
  if (!namespaced && info.namespace !== '' && !isOwnNamespace(info, nameInPath)) throw newGenericServerResponse(404)
  if (namespaced && info.namespace === '' && nameInPath) throw newGenericServerResponse(404)
  if (info.parts.length > 3 && !takesSubpath(resource, info.subresource)) throw newGenericServerResponse(404)
  if (info.subresource !== '') {
    const subresource = subresources.find((s) => s.name === info.subresource)
    if (subresource === undefined) throw newGenericServerResponse(404)
    // A subresource that takes any method gets HEAD and OPTIONS too, which have no verb of their own.
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
 * True for a namespace at its own path, which is authorized in itself, so that its owner may see it. Below the path of
 * another namespace it would be authorized there and not here. Resources of other groups that are called `namespaces`
 * are no namespaces: whoever owns the namespace of that name must not own their objects.
 */
const isOwnNamespace = ({ apiGroup, resource, namespace, name }: RequestInfo, nameInPath: boolean): boolean =>
  apiGroup === '' && resource === 'namespaces' && nameInPath && namespace === name
