/**
 * Thread: any. The documents that say what is served: /api, /apis, a group, a version, and all of it at once (aggregated
 * discovery v2). Made from a catalogue on first use and kept as text; a changed catalogue gets new documents.
 */
import { createHash } from 'node:crypto'
import type { Catalogue, ResourceInfo, SubresourceInfo } from './catalogue.js'
import { formatGroupVersion } from './group-version.js'

export interface DiscoveryDocument {
  readonly body: Buffer
  /** With its quotes. */
  readonly etag: string
}

export const AGGREGATED_MEDIA_TYPE = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

interface GroupVersionEntry {
  groupVersion: string
  version: string
}

export class DiscoveryDocuments {
  readonly catalogue: Catalogue
  readonly #documents = new Map<string, DiscoveryDocument>()

  constructor(catalogue: Catalogue) {
    this.catalogue = catalogue
  }

  /** GET /api; clients find the server by the address in it, which depends on how they reached it. */
  apiVersions(serverAddress: string): DiscoveryDocument {
    return this.#document(`/api ${serverAddress}`, () => ({
      kind: 'APIVersions',
      versions: this.catalogue.versions(''),
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
    }))
  }

  /** GET /apis */
  apiGroupList(): DiscoveryDocument {
    return this.#document('/apis', () => ({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: this.#namedGroups().map((group) => this.#group(group)),
    }))
  }

  /** GET /apis/<group>; undefined when nothing of it is served. */
  apiGroup(group: string): DiscoveryDocument | undefined {
    if (group === '' || this.catalogue.versions(group).length === 0) return undefined
    return this.#document(`/apis/${group}`, () => ({ kind: 'APIGroup', apiVersion: 'v1', ...this.#group(group) }))
  }

  /** GET /api/v1 and /apis/<group>/<version> */
  apiResourceList(group: string, version: string): DiscoveryDocument | undefined {
    const resources = this.catalogue.resourcesOf(group, version)
    if (resources.length === 0) return undefined
    return this.#document(`/apis/${group}/${version}`, () => ({
      kind: 'APIResourceList',
      // The core group's document predates the field.
      ...(group === '' ? {} : { apiVersion: 'v1' }),
      groupVersion: formatGroupVersion({ group, version }),
      resources: resources.flatMap(apiResources),
    }))
  }

  /** GET /api or /apis for clients that accept AGGREGATED_MEDIA_TYPE */
  aggregated(root: 'api' | 'apis'): DiscoveryDocument {
    return this.#document(`aggregated ${root}`, () => ({
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: (root === 'api' ? [''] : this.#namedGroups()).map((group) => ({
        metadata: group === '' ? {} : { name: group },
        versions: this.catalogue.versions(group).map((version) => ({
          version,
          resources: this.catalogue.resourcesOf(group, version).map(resourceDiscovery),
          freshness: 'Current',
        })),
      })),
    }))
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

  #document(key: string, make: () => object): DiscoveryDocument {
    let document = this.#documents.get(key)
    if (document === undefined) {
      const body = Buffer.from(`${JSON.stringify(make())}\n`)
      const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`
      document = { body, etag }
      this.#documents.set(key, document)
    }
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
