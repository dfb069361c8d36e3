/**
 * Thread: any. Documents of discovery with what other servers serve in them: groups by their priority, versions of a group by theirs,
 * then by name. What is served here comes from DiscoveryDocuments as it is.
 */
import { createHash } from 'node:crypto'
import type { DiscoveryDocument, DiscoveryDocuments } from '../api/discovery.js'
import { formatGroupVersion } from '../api/group-version.js'
import type { JsonObject } from '../api/object.js'
import { compareVersions } from '../api/version-order.js'
import type { RemoteService } from './api-service.js'
import { builtinPriority, CUSTOM_PRIORITY, type Priority } from './priorities.js'

/** What another server says of one version of a group. */
export interface RemoteVersion {
  readonly remote: Pick<RemoteService, 'group' | 'version' | 'groupPriority' | 'versionPriority'>
  /** The entry of aggregated discovery: version, resources. Without resources while nothing is known. */
  readonly entry: JsonObject
  readonly freshness: 'Current' | 'Stale'
}

interface VersionEntry {
  readonly version: string
  readonly priority: Priority
  readonly remote?: RemoteVersion
}

interface GroupEntry {
  readonly name: string
  readonly versions: VersionEntry[]
}

/** The group of APIServices comes first whatever others claim. */
const FIRST_GROUP = 'apiregistration.k8s.io'
const FIRST_PRIORITY = 20001

export class MergedDiscovery {
  readonly #local: DiscoveryDocuments
  readonly #groups: readonly GroupEntry[]
  readonly #documents = new Map<string, DiscoveryDocument>()

  constructor(local: DiscoveryDocuments, remotes: readonly RemoteVersion[]) {
    this.#local = local
    this.#groups = mergedGroups(local, remotes)
  }

  hasGroup(name: string): boolean {
    return this.#groups.some((group) => group.name === name)
  }

  /** GET /apis */
  apiGroupList(): DiscoveryDocument {
    return this.#document('/apis', () => ({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: this.#groups.map(apiGroup),
    }))
  }

  /** GET /apis/<group> */
  apiGroup(name: string): DiscoveryDocument | undefined {
    const group = this.#groups.find((one) => one.name === name)
    if (group === undefined) return undefined
    return this.#document(`/apis/${name}`, () => ({ kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) }))
  }

  /** GET /apis for clients that accept AGGREGATED_MEDIA_TYPE */
  aggregated(): DiscoveryDocument {
    return this.#document('aggregated', () => {
      const local = JSON.parse(this.#local.aggregated('apis').body.toString()) as JsonObject & { items: LocalGroup[] }
      const known = new Map(local.items.map((item) => [item.metadata.name, item]))
      return { ...local, items: this.#groups.map((group) => aggregatedGroup(group, known.get(group.name))) }
    })
  }

  #document(key: string, make: () => object): DiscoveryDocument {
    let document = this.#documents.get(key)
    if (document === undefined) {
      const body = Buffer.from(`${JSON.stringify(make())}\n`)
      document = { body, etag: `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"` }
      this.#documents.set(key, document)
    }
    return document
  }
}

interface LocalGroup {
  readonly metadata: { readonly name: string }
  readonly versions: readonly { readonly version: string }[]
}

function mergedGroups({ catalogue }: DiscoveryDocuments, remotes: readonly RemoteVersion[]): GroupEntry[] {
  const groups = new Map<string, GroupEntry>()
  const groupOf = (name: string): GroupEntry => {
    let group = groups.get(name)
    if (group === undefined) {
      group = { name, versions: [] }
      groups.set(name, group)
    }
    return group
  }
  const isRemote = new Set(remotes.map(({ remote }) => formatGroupVersion(remote)))
  for (const { group: name, version } of catalogue.groupVersions()) {
    if (name === '' || isRemote.has(formatGroupVersion({ group: name, version }))) continue
    groupOf(name).versions.push({ version, priority: builtinPriority(name, version) ?? CUSTOM_PRIORITY })
  }
  for (const one of remotes) {
    const { group, version, groupPriority, versionPriority } = one.remote
    const priority = { group: groupPriority, version: versionPriority }
    groupOf(group).versions.push({ version, priority, remote: one })
  }
  for (const { versions } of groups.values())
    versions.sort((a, b) => b.priority.version - a.priority.version || compareVersions(a.version, b.version))
  // Groups of one priority stay in the order in which they are listed here, and those of other servers come after them.
  return [...groups.values()].sort((a, b) => groupPriority(b) - groupPriority(a))
}

const groupPriority = ({ name, versions }: GroupEntry): number =>
  name === FIRST_GROUP ? FIRST_PRIORITY : Math.max(...versions.map(({ priority }) => priority.group))

function apiGroup({ name, versions }: GroupEntry): object {
  const entries = versions.map(({ version }) => ({
    groupVersion: formatGroupVersion({ group: name, version }),
    version,
  }))
  return { name, versions: entries, preferredVersion: entries[0] }
}

function aggregatedGroup({ name, versions }: GroupEntry, local: LocalGroup | undefined): object {
  return {
    ...(local ?? { metadata: { name } }),
    versions: versions.map(({ version, remote }) =>
      remote === undefined
        ? local?.versions.find((one) => one.version === version)
        : { ...remote.entry, version, freshness: remote.freshness },
    ),
  }
}
