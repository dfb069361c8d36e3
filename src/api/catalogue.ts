/** Thread: any. The resources of the Kubernetes version that the tables describe, in the order of discovery. */
import { KUBERNETES_VERSION, RESOURCES } from './generated/resources.js'
import type { GroupVersion, GroupVersionKind, GroupVersionResource } from './group-version.js'
import { compareVersions } from './version-order.js'

export interface SubresourceInfo extends GroupVersionKind {
  /** status, scale, log, … */
  readonly name: string
  readonly verbs: readonly string[]
}

export interface ResourceInfo extends GroupVersionResource {
  readonly kind: string
  readonly namespaced: boolean
  readonly singular: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Missing for what is not stored (reviews, bindings). */
  readonly storageVersionHash: string | undefined
  readonly subresources: readonly SubresourceInfo[]
  /** A delete answers with the object, not with a Status. */
  readonly returnsDeleted: boolean
  /** GA versions are; alpha and beta ones when --runtime-config enables them. */
  readonly servedByDefault: boolean
  /** Of resources that are defined while the server runs: changes whenever anything in the definition does. */
  readonly definitionHash?: string
  /** Of the same: the kind of its lists. Built-in ones add `List` to their kind. */
  readonly listKind?: string
}

type OptionalColumns = 'shortNames' | 'categories' | 'subresources' | 'returnsDeleted'
type ResourceRow = Omit<ResourceInfo, 'servedByDefault' | OptionalColumns> &
  Partial<Pick<ResourceInfo, OptionalColumns>>

const NONE: readonly never[] = []

function readResources(): readonly ResourceInfo[] {
  return (JSON.parse(RESOURCES) as ResourceRow[]).map((row) => ({
    ...row,
    shortNames: row.shortNames ?? NONE,
    categories: row.categories ?? NONE,
    storageVersionHash: row.storageVersionHash,
    subresources: row.subresources ?? NONE,
    returnsDeleted: row.returnsDeleted ?? false,
    servedByDefault: isGA(row.version),
  }))
}

export const isGA = (version: string): boolean => /^v\d+$/.test(version)

/** The versions of a group, the preferred one first, with their resources by name. */
interface Group {
  readonly name: string
  /** Of built-in groups the tables say the order. */
  readonly isBuiltin: boolean
  /** Changes whenever anything in the group does. */
  generation: number
  readonly versions: Map<string, Map<string, ResourceInfo>>
  readonly lists: Map<string, readonly ResourceInfo[]>
}

/**
 * A set of resources in discovery order: groups in their order of priority, those of custom resources by name behind them, versions
 * within a group the best first. Whoever owns it may add resources and remove them; what that costs depends on their group and not
 * on how many there are.
 */
export class Catalogue {
  readonly #byPath = new Map<string, ResourceInfo>()
  readonly #byKind = new Map<string, ResourceInfo>()
  readonly #groups = new Map<string, Group>()
  #generation = 0
  /** Made when somebody asks; undefined after a change. */
  #names: readonly string[] | undefined
  #resources: readonly ResourceInfo[] | undefined

  constructor(resources: readonly ResourceInfo[]) {
    for (const resource of resources) this.#put(resource, true)
  }

  /** Everything that the tables hold, alpha and beta too. */
  static builtin(): Catalogue {
    return new Catalogue(readResources())
  }

  filter(keep: (resource: ResourceInfo) => boolean): Catalogue {
    return new Catalogue(this.resources.filter(keep))
  }

  servedByDefault(): Catalogue {
    return this.filter((r) => r.servedByDefault)
  }

  /** Changes with every resource that is added or removed. */
  get generation(): number {
    return this.#generation
  }

  /** The same for one group; 0 for one that is not there. */
  groupGeneration(group: string): number {
    return this.#groups.get(group)?.generation ?? 0
  }

  get resources(): readonly ResourceInfo[] {
    this.#resources ??= this.groups().flatMap((group) =>
      this.versions(group).flatMap((version) => this.resourcesOf(group, version)),
    )
    return this.#resources
  }

  add(resources: readonly ResourceInfo[]): void {
    for (const resource of resources) this.#put(resource, false)
  }

  remove(resources: readonly ResourceInfo[]): void {
    for (const { group, version, resource, kind } of resources) {
      const versions = this.#groups.get(group)?.versions
      if (versions?.get(version)?.delete(resource) !== true) continue
      if (versions.get(version)!.size === 0) versions.delete(version)
      this.#byPath.delete(`${group}/${version}/${resource}`)
      this.#byKind.delete(`${group}/${version}/${kind}`)
      this.#changed(this.#groups.get(group)!, version)
      if (versions.size === 0) this.#groups.delete(group)
    }
  }

  find(group: string, version: string, resource: string): ResourceInfo | undefined {
    return this.#byPath.get(`${group}/${version}/${resource}`)
  }

  findKind(group: string, version: string, kind: string): ResourceInfo | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`)
  }

  hasGroup(group: string): boolean {
    return this.#groups.has(group)
  }

  /** Whether all that there is of a group was added by definitions. */
  isCustomGroup(group: string): boolean {
    return this.#groups.get(group)?.isBuiltin === false
  }

  /** Group names in order of priority, the core group ('') first. */
  groups(): readonly string[] {
    if (this.#names === undefined) {
      const groups = [...this.#groups.values()]
      const custom = groups.filter(({ isBuiltin }) => !isBuiltin).map(({ name }) => name)
      this.#names = [...groups.filter(({ isBuiltin }) => isBuiltin).map(({ name }) => name), ...custom.sort()]
    }
    return this.#names
  }

  /** Versions of a group, the preferred one first. */
  versions(group: string): string[] {
    return [...(this.#groups.get(group)?.versions.keys() ?? [])]
  }

  groupVersions(): GroupVersion[] {
    return this.groups().flatMap((group) => this.versions(group).map((version) => ({ group, version })))
  }

  /** One and the same list until one of its resources changes. */
  resourcesOf(group: string, version: string): readonly ResourceInfo[] {
    const found = this.#groups.get(group)
    const known = found?.lists.get(version)
    if (known !== undefined || found === undefined) return known ?? NONE
    const list = [...(found.versions.get(version)?.values() ?? [])]
    if (!found.isBuiltin) list.sort((a, b) => (a.resource < b.resource ? -1 : 1))
    found.lists.set(version, list)
    return list
  }

  #put(info: ResourceInfo, isBuiltin: boolean): void {
    const { group, version, resource, kind } = info
    let found = this.#groups.get(group)
    if (found === undefined) {
      found = { name: group, isBuiltin, generation: 0, versions: new Map(), lists: new Map() }
      this.#groups.set(group, found)
    }
    let resources = found.versions.get(version)
    if (resources === undefined) {
      resources = new Map()
      found.versions.set(version, resources)
      if (!isBuiltin) sortVersions(found.versions)
    }
    resources.set(resource, info)
    this.#byPath.set(`${group}/${version}/${resource}`, info)
    this.#byKind.set(`${group}/${version}/${kind}`, info)
    this.#changed(found, version)
  }

  #changed(group: Group, version: string): void {
    group.generation = ++this.#generation
    group.lists.delete(version)
    this.#names = undefined
    this.#resources = undefined
  }
}

/** The versions of a group that definitions share in the order of what their names promise. */
function sortVersions(versions: Group['versions']): void {
  const sorted = [...versions].sort(([a], [b]) => compareVersions(a, b))
  versions.clear()
  for (const [version, resources] of sorted) versions.set(version, resources)
}

export { KUBERNETES_VERSION }
