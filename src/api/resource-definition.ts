/**
 * Thread: any. A resource that is not built in, as the small message that every thread is told: names, scope, versions, and which
 * definition it comes from. The schemas are not in it: whoever needs one reads the definition from shared memory
 * (apiextensions/definition-source.ts). Objects are stored as JSON, in the storage version, which is also the one in memory.
 */
import { createHash } from 'node:crypto'
import type { ResourceInfo, SubresourceInfo } from './catalogue.js'
import type { GroupResource } from './group-version.js'

export interface DefinedVersion {
  readonly name: string
  readonly served: boolean
  readonly hasStatus?: boolean
  readonly hasScale?: boolean
  /** Paths of fields that selectors may name: spec.color. */
  readonly selectableFields?: readonly string[]
  /** The warning that every answer about a deprecated version carries. */
  readonly deprecation?: string
}

export interface ResourceDefinition extends GroupResource {
  readonly kind: string
  readonly listKind: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** The preferred one first. */
  readonly versions: readonly DefinedVersion[]
  readonly storageVersion: string
  /** Of the definition that says all this. */
  readonly uid: string
  /** The revision of the definition's last change of spec that this server has seen; documents and compiled schemas go by it. */
  readonly revision: number
  /** Stands for what an object in memory depends on: the storage version and the parts of its schema that prune and default. */
  readonly memoryForm: string
  /** Versions are converted by the webhook that the definition names; without it they have the same fields. */
  readonly convertsByWebhook?: boolean
  /** By a webhook, and objects may be stored in other versions than the storage version: memory has them as they are stored. */
  readonly mixesVersions?: boolean
  /** Whether the definition is being deleted: nothing is created any more. */
  readonly terminating: boolean
}

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'] as const
const PART_VERBS = ['get', 'patch', 'update'] as const

/** As discovery and routes know it, a version each; those that are not served too, since objects may be stored in them. */
export function resourceInfos(definition: ResourceDefinition): ResourceInfo[] {
  return definition.versions.map((version) => resourceInfo(definition, version))
}

function resourceInfo(definition: ResourceDefinition, version: DefinedVersion): ResourceInfo {
  const { group, resource, kind, listKind, singular, shortNames, categories, namespaced, uid, revision } = definition
  const { name, served, hasStatus = false, hasScale = false } = version
  const status: SubresourceInfo = { name: 'status', group, version: name, kind, verbs: PART_VERBS }
  const scale: SubresourceInfo = {
    name: 'scale',
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: PART_VERBS,
  }
  return {
    group,
    version: name,
    resource,
    kind,
    listKind,
    singular,
    namespaced,
    verbs: VERBS,
    shortNames,
    categories,
    subresources: [...(hasStatus ? [status] : []), ...(hasScale ? [scale] : [])],
    returnsDeleted: false,
    servedByDefault: served,
    storageVersionHash: storageVersionHash(group, definition.storageVersion, kind),
    definitionHash: `${uid}/${revision}`,
  }
}

/** Eight bytes that stand for the version in which a kind is stored. */
const storageVersionHash = (group: string, version: string, kind: string): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
