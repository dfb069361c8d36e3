/**
 * Thread: any. The documents that say what is served: /api, /apis, a group, a version, and all of it at once (aggregated
 * discovery v2). Each is made when it is asked for and kept as text until its group, or for documents of all groups any group,
 * changes; of what tells of all groups only the part of the group that changed is made anew.
 */
import { createHash } from 'node:crypto'
import type { Catalogue, ResourceInfo, SubresourceInfo } from './catalogue.js'
import { formatGroupVersion } from './group-version.js'

export interface DiscoveryDocument {
  readonly body: Buffer
  /** With its quotes. */
  readonly etag: string
}

interface KeptDocument extends DiscoveryDocument {
  readonly generation: number
}

/** More than a server without custom resources has. */
const MAX_DOCUMENTS = 256

export const AGGREGATED_MEDIA_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

interface GroupVersionEntry {
  groupVersion: string
  version: string
}

export class DiscoveryDocuments {
  readonly catalogue: Catalogue
  readonly #documents = new Map<string, KeptDocument>()
  /** By group: its part of aggregated discovery. */
  #parts = new Map<string, { readonly generation: number; readonly text: string }>()

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue
  }

  /** GET /api; clients find the server by the address in it, which depends on how they reached it. */
  apiVersions(serverAddress: string): DiscoveryDocument {
    return this.#document(`/api ${serverAddress}`, this.catalogue.groupGeneration(''), () => ({
      kind: 'APIVersions',
      versions: this.catalogue.versions(''),
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
    }))
  }

  /** GET /apis */
  apiGroupList(): DiscoveryDocument {
    return this.#document('/apis', this.catalogue.generation, () => ({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: this.#namedGroups().map((group) => this.#group(group)),
    }))
  }

  /** GET /apis/<group>; undefined when nothing of it is served. */
  apiGroup(group: string): DiscoveryDocument | undefined {
    if (group === '' || this.catalogue.versions(group).length === 0) return undefined
    return this.#document(`/apis/${group}`, this.catalogue.groupGeneration(group), () => ({
      kind: 'APIGroup',
      apiVersion: 'v1',
      ...this.#group(group),
    }))
  }

  /** GET /api/v1 and /apis/<group>/<version> */
  apiResourceList(group: string, version: string): DiscoveryDocument | undefined {
    const resources = this.catalogue.resourcesOf(group, version)
    if (resources.length === 0) return undefined
    return this.#document(`/apis/${group}/${version}`, this.catalogue.groupGeneration(group), () => ({
      kind: 'APIResourceList',
      // The core group's document predates the field.
      ...(group === '' ? {} : { apiVersion: 'v1' }),
      groupVersion: formatGroupVersion({ group, version }),
      resources: resources.flatMap(apiResources),
    }))
  }

  /** GET /api or /apis for clients that accept AGGREGATED_MEDIA_TYPE */
  aggregated(root: 'api' | 'apis'): DiscoveryDocument {
    const { catalogue } = this
    const generation = root === 'api' ? catalogue.groupGeneration('') : catalogue.generation
    return this.#document(`aggregated ${root}`, generation, () => {
      const groups = root === 'api' ? [''] : this.#namedGroups()
      const parts = new Map(groups.map((group) => [group, this.#part(group)]))
      const core = this.#parts.get('')
      this.#parts = core === undefined ? parts : new Map([['', core], ...parts])
      const texts = [...parts.values()].map(({ text }) => text)
      return `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[${texts.join(',')}]}`
    })
  }

  #part(group: string): { readonly generation: number; readonly text: string } {
    const generation = this.catalogue.groupGeneration(group)
    const known = this.#parts.get(group)
    if (known?.generation === generation) return known
    const part = {
      metadata: group === '' ? {} : { name: group },
      versions: this.catalogue.versions(group).map((version) => ({
        version,
        resources: this.catalogue.resourcesOf(group, version).map(resourceDiscovery),
        freshness: 'Current',
      })),
    }
    return { generation, text: JSON.stringify(part) }
  }

  #namedGroups(): string[] {
    return this.catalogue.groups().filter((group) => group !== '')
  }

  #group(group: string): { name: string; versions: GroupVersionEntry[]; preferredVersion: GroupVersionEntry } {
    const versions = this.catalogue
      .versions(group)
      .map((version) => ({ groupVersion: formatGroupVersion({ group, version }), version }))
    return { name: group, versions, preferredVersion: versions[0]! }
  }

  #document(key: string, generation: number, make: () => object | string): DiscoveryDocument {
    const known = this.#documents.get(key)
    if (known?.generation === generation) return known
    const made = make()
    const body = Buffer.from(`${typeof made === 'string' ? made : JSON.stringify(made)}\n`)
    const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`
    const document = { generation, body, etag }
    // Groups come and go: what is not asked for again is not kept for good.
    if (this.#documents.size >= MAX_DOCUMENTS) this.#documents.clear()
    this.#documents.set(key, document)
    return document
  }
}

/** A resource and its subresources, each an entry of its own. */
function apiResources(resource: ResourceInfo): object[] {
  const { resource: name, singular, namespaced, kind, verbs, shortNames, categories, storageVersionHash } = resource
  return [
    {
      name,
      singularName: singular,
      namespaced,
      kind,
      verbs,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
      ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
    },
    ...resource.subresources.map((sub) => ({
      name: `${name}/${sub.name}`,
      singularName: '',
      namespaced,
      ...(isOfSameVersion(resource, sub) ? {} : { group: sub.group, version: sub.version }),
      kind: sub.kind,
      verbs: sub.verbs,
    })),
  ]
}

function resourceDiscovery(resource: ResourceInfo): object {
  const { resource: name, kind, namespaced, singular, verbs, shortNames, categories, subresources } = resource
  const { group, version, definitionHash } = resource
  return {
    resource: name,
    // Empty group and version mean those of the document, for built-in kinds.
    responseKind: definitionHash === undefined ? { group: '', version: '', kind } : { group, version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(subresources.length === 0 ? {} : { subresources: subresources.map((sub) => subresource(resource, sub)) }),
  }
}

function subresource(resource: ResourceInfo, sub: SubresourceInfo): object {
  const same = resource.definitionHash === undefined && isOfSameVersion(resource, sub)
  return {
    subresource: sub.name,
    responseKind: { group: same ? '' : sub.group, version: same ? '' : sub.version, kind: sub.kind },
    verbs: sub.verbs,
  }
}

const isOfSameVersion = (resource: ResourceInfo, sub: SubresourceInfo): boolean =>
  sub.group === resource.group && sub.version === resource.version
