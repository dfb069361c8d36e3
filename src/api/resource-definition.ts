/**
 * Thread: any. A resource that is not built in, as plain data: it is added, changed and removed while the server runs, and
 * crosses threads as it is. Its objects are stored as JSON, in its storage version, which is also the one in memory.
 */
import { createHash } from 'node:crypto'
import type { ResourceInfo, SubresourceInfo } from './catalogue.js'
import type { GroupResource } from './group-version.js'

/** A structural schema: OpenAPI v3 as custom resource definitions have it. */
export interface StructuralSchema {
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly additionalProperties?: StructuralSchema | boolean
  readonly items?: StructuralSchema
  readonly required?: readonly string[]
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
}

export interface DefinedVersion {
  readonly name: string
  readonly served: boolean
  readonly schema: StructuralSchema
  readonly hasStatus?: boolean
  /** Paths of fields that selectors may name: spec.color. */
  readonly selectableFields?: readonly string[]
}

export interface ResourceDefinition extends GroupResource {
  readonly kind: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** The preferred one first. */
  readonly versions: readonly DefinedVersion[]
  readonly storageVersion: string
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const

/** As discovery and routes know it, a version each; those that are not served too, since objects may be stored in them. */
export function resourceInfos(definition: ResourceDefinition): ResourceInfo[] {
  return definition.versions.map((version) => resourceInfo(definition, version))
}

function resourceInfo(definition: ResourceDefinition, { name, served, hasStatus }: DefinedVersion): ResourceInfo {
  const { group, resource, kind, singular, shortNames, categories, namespaced } = definition
  const status: SubresourceInfo = { name: 'status', group, version: name, kind, verbs: ['get', 'patch', 'update'] }
  return {
    group,
    version: name,
    resource,
    kind,
    singular,
    namespaced,
    verbs: VERBS,
    shortNames,
    categories,
    subresources: hasStatus === true ? [status] : [],
    returnsDeleted: false,
    servedByDefault: served,
    storageVersionHash: storageVersionHash(group, definition.storageVersion, kind),
    definitionHash: createHash('sha256').update(JSON.stringify(definition)).digest('hex'),
  }
}

/** Eight bytes that stand for the version in which a kind is stored. */
const storageVersionHash = (group: string, version: string, kind: string): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
