/** Thread: pool. What policies and webhooks ask of kinds, answered by the endpoints of this thread. */
import type { AdmissionKinds, ServedKind } from '../../admission/matching/admission-kinds.js'
import {
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  type GroupVersionKind,
  type GroupVersionResource,
} from '../../api/group-version.js'
import { type Decoded, decodeTree } from '../../api/json/decode.js'
import { encodeText } from '../../api/json/encode.js'
import { shownTree } from '../../api/json/shown-tree.js'
import { deepCopy, isJsonObject, type Json, type JsonObject, type KubeObject } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'
import { versionConversion } from '../../registry/stored-resource.js'
import { atomicValues } from '../endpoints/apply/atomic-values.js'
import { merge } from '../endpoints/apply/merge.js'
import { TypedError } from '../endpoints/apply/typed-error.js'
import { validateApplied } from '../endpoints/apply/validate-applied.js'
import type { EndpointTable } from '../endpoints/endpoint-table.js'
import { applyJsonPatch } from '../endpoints/patch/json-patch.js'
import { PatchTestError } from '../endpoints/patch/patch-error.js'
import type { Scheme } from '../scheme/scheme.js'

export class ServedKinds implements AdmissionKinds {
  readonly #scheme: Scheme
  readonly #endpoints: EndpointTable

  constructor(scheme: Scheme, endpoints: EndpointTable) {
    this.#scheme = scheme
    this.#endpoints = endpoints
  }

  generation(): number {
    return this.#scheme.catalogue.generation
  }

  /** Resources that share an arena hold the same objects, whatever group they are served in. */
  equivalents(resource: GroupVersionResource, subresource: string): readonly ServedKind[] {
    const identity = this.#identity(resource)
    const found: ServedKind[] = []
    for (const info of this.#scheme.related(resource)) {
      const isSame =
        info.group === resource.group && info.version === resource.version && info.resource === resource.resource
      if (isSame || this.#identity(info) !== identity) continue
      const part = subresource === '' ? info : info.subresources.find(({ name }) => name === subresource)
      if (part === undefined) continue
      const { group, version, kind } = part
      const { group: ownGroup, version: ownVersion } = info
      found.push({
        resource: { group: ownGroup, version: ownVersion, resource: info.resource },
        subresource,
        kind: { group, version, kind },
      })
    }
    return found
  }

  convert(object: KubeObject, target: ServedKind): KubeObject | Promise<KubeObject> {
    const { kind, resource } = target
    const wanted = formatGroupVersion(kind)
    const { apiVersion = wanted } = object
    if (object.apiVersion === wanted && object.kind === kind.kind) return object
    const stored = this.#scheme.stored(formatGroupResource(resource))
    if (apiVersion === wanted || stored === undefined || stored.info.kind !== kind.kind)
      return { ...object, apiVersion: wanted, kind: kind.kind }
    if (this.#scheme.defined(formatGroupResource(resource))?.convertsByWebhook === true)
      return this.#byWebhook(object, target)
    const copy = deepCopy(object)
    const inMemory = versionConversion(stored, apiVersion)?.toMemoryVersion(copy) ?? copy
    const converted = versionConversion(stored, wanted)?.fromMemoryVersion(inMemory) ?? inMemory
    return { ...converted, apiVersion: wanted, kind: kind.kind }
  }

  async #byWebhook(object: KubeObject, { resource, kind }: ServedKind): Promise<KubeObject> {
    const { group: apiGroup, version: apiVersion } = resource
    const { converter } = this.#endpoints.find({ apiGroup, apiVersion, resource: resource.resource, subresource: '' })
    const [converted] = (await converter?.convert([object], formatGroupVersion(kind))) ?? []
    return converted ?? object
  }

  encode(object: KubeObject, { kind }: ServedKind): string {
    return encodeText(object, this.#schema(kind))
  }

  tree(object: KubeObject, { kind }: ServedKind): JsonObject {
    return shownTree(object, this.#schema(kind))
  }

  decode(tree: Json, target: ServedKind): KubeObject {
    return this.#decode(tree, target, false)
  }

  decodeStrictly(tree: Json, target: ServedKind): KubeObject {
    return this.#decode(tree, target, true)
  }

  #decode(tree: Json, target: ServedKind, strict: boolean): KubeObject {
    const { kind } = target
    if (!isJsonObject(tree)) throw new TypeError('the patched document is no object')
    const { apiVersion = '', kind: name = '' } = tree
    if (apiVersion !== formatGroupVersion(kind) || name !== kind.kind)
      throw new TypeError(`the patched object is no ${kind.kind} of ${formatGroupVersion(kind)}`)
    const { object, strictErrors } = this.#decoded(tree, target)
    if (strict && strictErrors.length > 0) throw new TypeError(`strict decoding error: ${strictErrors.join(', ')}`)
    this.#defaults(target)?.(object)
    return object
  }

  /** A custom object may be of any type until it is validated, and loses what its schema does not know. */
  #decoded(tree: JsonObject, { kind, resource }: ServedKind): Pick<Decoded, 'object' | 'strictErrors'> {
    const defined = this.#scheme.defined(formatGroupResource(resource))
    const custom = defined?.kind === kind.kind ? this.#scheme.customVersion(defined, kind.version) : undefined
    if (custom === undefined) return decodeTree(tree, this.#schema(kind))
    custom.schema.admit(tree, { origin: 'request' })
    return { object: tree, strictErrors: [] }
  }

  patch(tree: Json, patch: Json): Json {
    return applyJsonPatch(tree, patch)
  }

  patchIfTested(tree: Json, patch: Json): Json | undefined {
    try {
      return applyJsonPatch(tree, patch)
    } catch (error) {
      if (error instanceof PatchTestError) return undefined
      throw error
    }
  }

  merge(tree: JsonObject, configuration: JsonObject, { kind }: ServedKind): JsonObject {
    if (!this.#isPublished(kind))
      throw new TypeError(
        `failed to convert patch object to typed object: no corresponding type for ${formatGroupVersion(kind)}, Kind=${kind.kind}`,
      )
    const schema = this.#schema(kind)
    try {
      validateApplied(schema, configuration)
    } catch (error) {
      if (!(error instanceof TypedError)) throw error
      throw new TypeError(`failed to convert patch object to typed object: ${error.message}`)
    }
    const atomics = atomicValues(schema, configuration)
    if (atomics.length > 0)
      throw new TypeError(
        `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`,
      )
    return merge(schema, tree, configuration)
  }

  isCustom({ resource }: ServedKind): boolean {
    return this.#scheme.defined(formatGroupResource(resource)) !== undefined
  }

  /** Whether the document of the kind's own group and version has its type: the bodies of some subresources are in others. */
  #isPublished({ group, version, kind }: GroupVersionKind): boolean {
    return this.#scheme.catalogue.resources.some(
      (info) =>
        info.group === group &&
        info.version === version &&
        (info.kind === kind ||
          info.subresources.some((part) => part.group === group && part.kind === kind && !kind.endsWith('Options'))),
    )
  }

  resourceOf({ group, version, kind }: GroupVersionKind): ReturnType<AdmissionKinds['resourceOf']> {
    const info = this.#scheme.catalogue.findKind(group, version, kind)
    if (info === undefined) return undefined
    const { resource, namespaced } = info
    return {
      served: { resource: { group, version, resource }, subresource: '', kind: { group, version, kind } },
      namespaced,
    }
  }

  /** Undefined for the options of a CONNECT, which have no endpoint, and for kinds without defaults. */
  #defaults({ resource, subresource, kind }: ServedKind): ((object: KubeObject) => void) | undefined {
    const info = this.#scheme.catalogue.find(resource.group, resource.version, resource.resource)
    const part = info?.subresources.find(({ name }) => name === subresource)
    if (subresource !== '' && part?.verbs.includes('create') !== true && part?.verbs.includes('update') !== true)
      return undefined
    if (subresource !== '' && part?.kind.endsWith('Options') === true) return undefined
    const { group: apiGroup, version: apiVersion } = resource
    const endpoint = this.#endpoints.find({ apiGroup, apiVersion, resource: resource.resource, subresource })
    return endpoint.kind.kind === kind.kind ? endpoint.rules.setDefaults : undefined
  }

  #identity(resource: GroupResource): string {
    const name = formatGroupResource(resource)
    return this.#scheme.stored(name)?.arena ?? name
  }

  #schema({ group, version, kind }: GroupVersionKind): StructSchema {
    const schema = this.#scheme.kind(group, version, kind)
    if (schema === undefined)
      throw new TypeError(`there is no kind ${kind} of ${formatGroupVersion({ group, version })}`)
    return schema
  }
}
