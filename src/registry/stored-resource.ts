/** Thread: any. What is stored of a resource, whatever versions and names it is served under. */
import type { Catalogue, ResourceInfo } from '../api/catalogue.js'
import {
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  type GroupVersionKind,
} from '../api/group-version.js'
import { type FieldSpec, METADATA_FIELDS } from '../api/json/field-spec.js'
import type { KubeObject } from '../api/object.js'
import { factsOf } from './facts-table.js'
import type { HubConversion, ResourceRules } from './generic/resource-rules.js'

export interface StoredResource {
  readonly groupResource: GroupResource
  /** As flags call it: `pods`, `deployments.apps`. */
  readonly name: string
  /** The name of its arena: two names of one set of objects have one. */
  readonly arena: string
  /** In its hub version, which memory holds: the preferred one of all that there are, served or not. */
  readonly info: ResourceInfo
  /** Empty in threads that do not look into objects. */
  readonly rules: ResourceRules
  /** What selectors may name. */
  readonly fields: readonly FieldSpec[]
}

/** As much of it as its form in storage depends on: the server keeps some things there that it does not serve. */
export interface StoredKind extends Pick<StoredResource, 'name' | 'rules'> {
  readonly info: GroupVersionKind
}

/** Kinds that are answered and never kept: reviews, bindings. */
const isStored = (info: ResourceInfo): boolean => info.verbs.includes('get') && info.storageVersionHash !== undefined

export type RulesSource = (resource: GroupResource) => ResourceRules

/** One for each resource that is served in any version. `all` are the versions that there are. */
export function storedResources(served: Catalogue, all: Catalogue, rulesOf: RulesSource): StoredResource[] {
  const hubs = new Map<string, ResourceInfo>()
  for (const info of all.resources) {
    const name = formatGroupResource(info)
    if (!hubs.has(name)) hubs.set(name, info)
  }
  const found = new Map<string, StoredResource>()
  for (const info of served.resources) {
    const groupResource = { group: info.group, resource: info.resource }
    const name = formatGroupResource(groupResource)
    if (!isStored(info) || found.has(name)) continue
    const [first] = (factsOf(groupResource).storage?.cohabitating ?? []).filter((other) =>
      hubs.has(formatGroupResource(other)),
    )
    const arena = formatGroupResource(first ?? groupResource)
    found.set(name, { ...storedAs(groupResource, hubs.get(arena) ?? info), name, arena, rules: rulesOf(groupResource) })
  }
  return [...found.values()]
}

function storedAs(
  groupResource: GroupResource,
  info: ResourceInfo,
): Pick<StoredResource, 'groupResource' | 'info' | 'fields'> {
  const metadata = info.namespaced ? METADATA_FIELDS : METADATA_FIELDS.slice(0, 1)
  return { groupResource, info, fields: [...metadata, ...(factsOf(groupResource).indexedFields ?? [])] }
}

/** Between a version and the hub; undefined for the hub version itself. */
export function hubConversion({ info, rules }: StoredKind, apiVersion: string): HubConversion | undefined {
  const hub = formatGroupVersion(info)
  return apiVersion === hub ? undefined : (rules.conversions?.[apiVersion] ?? renamed(hub, apiVersion))
}

/** Versions whose types are the same: only the name changes. */
function renamed(hub: string, other: string): HubConversion {
  const as = (apiVersion: string) => (object: KubeObject) => ({ ...object, apiVersion })
  return { toHub: as(hub), fromHub: as(other) }
}
