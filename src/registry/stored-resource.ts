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
import { printerTable } from '../apiextensions/columns/printer-columns.js'
import { factsOf } from './facts-table.js'
import type { ResourceRules, VersionConversion } from './generic/resource-rules.js'

export interface StoredResource {
  readonly groupResource: GroupResource
  /** As flags call it: `pods`, `deployments.apps`. */
  readonly name: string
  /** The name of its arena: two names of one set of objects have one. */
  readonly arena: string
  /** In its memory version, which memory holds: the preferred one of all that there are, served or not. */
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

/** Of custom resources, before their definitions are read: a Table of name and age. */
const CUSTOM_RULES: ResourceRules = { table: printerTable(undefined) }

/** Kinds that are answered and never kept: reviews, bindings. */
const isStored = (info: ResourceInfo): boolean => info.verbs.includes('get') && info.storageVersionHash !== undefined

export type RulesSource = (resource: GroupResource) => ResourceRules

/** One for each resource that is served in any version. `all` are the versions that there are. */
export function storedResources(served: Catalogue, all: Catalogue, rulesOf: RulesSource): StoredResource[] {
  const memoryInfos = new Map<string, ResourceInfo>()
  for (const info of all.resources) {
    const name = formatGroupResource(info)
    if (!memoryInfos.has(name)) memoryInfos.set(name, info)
  }
  const found = new Map<string, StoredResource>()
  for (const info of served.resources) {
    const groupResource = { group: info.group, resource: info.resource }
    const name = formatGroupResource(groupResource)
    if (!isStored(info) || found.has(name)) continue
    const [first] = (factsOf(groupResource).storage?.cohabitating ?? []).filter((other) =>
      memoryInfos.has(formatGroupResource(other)),
    )
    const arena = formatGroupResource(first ?? groupResource)
    found.set(name, {
      ...storedAs(groupResource, memoryInfos.get(arena) ?? info),
      name,
      arena,
      rules: info.definitionHash === undefined ? rulesOf(groupResource) : CUSTOM_RULES,
    })
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

/** Between a version and the memory version; undefined for the memory version itself. */
export function versionConversion({ info, rules }: StoredKind, apiVersion: string): VersionConversion | undefined {
  const memoryVersion = formatGroupVersion(info)
  return apiVersion === memoryVersion
    ? undefined
    : (rules.conversions?.[apiVersion] ?? renamed(memoryVersion, apiVersion))
}

/** Versions whose types are the same: only the name changes. */
function renamed(memoryVersion: string, other: string): VersionConversion {
  const as = (apiVersion: string) => (object: KubeObject) => ({ ...object, apiVersion })
  return { toMemoryVersion: as(memoryVersion), fromMemoryVersion: as(other) }
}
