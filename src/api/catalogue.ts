/** Thread: any. The resources of the Kubernetes version that the tables describe, in the order of discovery. */
import { KUBERNETES_VERSION, RESOURCES } from './generated/resources.js'
import type { GroupVersion, GroupVersionKind, GroupVersionResource } from './group-version.js'

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

/** A set of resources in discovery order: groups in their order of priority, versions within a group the best first. */
export class Catalogue {
  readonly resources: readonly ResourceInfo[]
  readonly #byPath: ReadonlyMap<string, ResourceInfo>
  readonly #byKind: ReadonlyMap<string, ResourceInfo>

  constructor(resources: readonly ResourceInfo[]) {
    this.resources = resources
    this.#byPath = new Map(resources.map((r) => [`${r.group}/${r.version}/${r.resource}`, r]))
    this.#byKind = new Map(resources.map((r) => [`${r.group}/${r.version}/${r.kind}`, r]))
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

  find(group: string, version: string, resource: string): ResourceInfo | undefined {
    return this.#byPath.get(`${group}/${version}/${resource}`)
  }

  findKind(group: string, version: string, kind: string): ResourceInfo | undefined {
    return this.#byKind.get(`${group}/${version}/${kind}`)
  }

  hasGroup(group: string): boolean {
    return this.resources.some((r) => r.group === group)
  }

  /** Group names in order of priority, the core group ('') first. */
  groups(): string[] {
    return [...new Set(this.resources.map((r) => r.group))]
  }

  /** Versions of a group, the preferred one first. */
  versions(group: string): string[] {
    return [...new Set(this.resources.filter((r) => r.group === group).map((r) => r.version))]
  }

  groupVersions(): GroupVersion[] {
    return this.groups().flatMap((group) => this.versions(group).map((version) => ({ group, version })))
  }

  resourcesOf(group: string, version: string): readonly ResourceInfo[] {
    return this.resources.filter((r) => r.group === group && r.version === version)
  }
}

export { KUBERNETES_VERSION }
