/** Thread: any. What is stored of a resource, whatever versions and names it is served under. */
import type { Catalogue, ResourceInfo } from '../api/catalogue.js'
import { formatGroupResource, type GroupResource } from '../api/group-version.js'
import { type FieldSpec, METADATA_FIELDS } from '../api/json/field-spec.js'
import type { ResourceRules } from './generic/resource-rules.js'
import { rulesOf } from './rules-table.js'

export interface StoredResource {
  readonly groupResource: GroupResource
  /** The name of its arena: `pods`, `deployments.apps`. */
  readonly name: string
  /** In the version that memory holds. */
  readonly info: ResourceInfo
  readonly rules: ResourceRules
  /** What selectors may name. */
  readonly fields: readonly FieldSpec[]
}

/** Kinds that are answered and never kept: reviews, bindings. */
const isStored = (info: ResourceInfo): boolean => info.verbs.includes('get') && info.storageVersionHash !== undefined

/** One for each resource that is served in any version; the preferred version is the one in memory. */
export function storedResources(catalogue: Catalogue): StoredResource[] {
  const found = new Map<string, StoredResource>()
  for (const info of catalogue.resources) {
    const groupResource = { group: info.group, resource: info.resource }
    const name = formatGroupResource(groupResource)
    if (!isStored(info) || found.has(name)) continue
    const rules = rulesOf(groupResource)
    const metadata = info.namespaced ? METADATA_FIELDS : METADATA_FIELDS.slice(0, 1)
    found.set(name, { groupResource, name, info, rules, fields: [...metadata, ...(rules.indexedFields ?? [])] })
  }
  return [...found.values()]
}
