/** Thread: main. A resource as the front end serves it from shared memory: keys, kinds and the bytes around objects. */
import type { ResourceInfo } from '../../api/catalogue.js'
import { formatGroupVersion } from '../../api/group-version.js'
import { warningValue } from '../http/respond-encoded.js'

/**
 * Subresources that are passed on to another server, by name. With `subpath` any path behind the name, and every
 * method, is passed on.
 */
export type ConnectedSubresources = Readonly<Record<string, { readonly subpath?: boolean }>>

const CONNECTS_NOTHING: ConnectedSubresources = {}

export interface ServedResourceOptions {
  readonly info: ResourceInfo
  /** The name of the arena that holds the objects. */
  readonly arena: string
  /** The prefix of the objects' keys: `/registry/pods/`. */
  readonly keyPrefix: string
  /** The objects in memory are in this version, so that no conversion is needed to serve them. */
  readonly direct: boolean
  /**
   * True when labels and fields are known only after a webhook has converted an object, so that the pool must select.
   */
  readonly selectsConverted?: boolean
  /** True for a resource that a CustomResourceDefinition defines. Its lists keep kind and apiVersion in each item. */
  readonly isCustom: boolean
  /** The fields that selectors may name. */
  readonly selectableFields: readonly string[]
  /** The selectable fields that no object has: selectors may name them, as in Kubernetes. */
  readonly phantomFields?: readonly string[]
  /** The warning that every answer carries; undefined for most resources. */
  readonly deprecation?: string | undefined
  /** Subresources that another server answers. */
  readonly connects?: ConnectedSubresources
}

export class ServedResource {
  readonly info: ResourceInfo
  readonly arena: string
  readonly keyPrefix: string
  readonly direct: boolean
  readonly selectsConverted: boolean
  readonly selectableFields: readonly string[]
  /** The selectable fields without the phantom ones, by which objects can be found. */
  readonly indexedFields: readonly string[]
  readonly connects: ConnectedSubresources
  readonly apiVersion: string
  readonly listKind: string
  /** The headers of every answer; undefined for most resources. */
  readonly headers: readonly string[] | undefined
  /** The bytes that every object in memory starts with. */
  readonly #kindPrefix: Uint8Array
  readonly isCustom: boolean

  constructor(options: ServedResourceOptions) {
    this.info = options.info
    this.arena = options.arena
    this.keyPrefix = options.keyPrefix
    this.direct = options.direct
    this.selectsConverted = options.selectsConverted ?? false
    this.selectableFields = options.selectableFields
    this.isCustom = options.isCustom
    this.connects = options.connects ?? CONNECTS_NOTHING
    this.apiVersion = formatGroupVersion(options.info)
    const { deprecation } = options
    this.headers = deprecation === undefined ? undefined : ['Warning', warningValue(deprecation)]
    this.indexedFields = options.selectableFields.filter((field) => options.phantomFields?.includes(field) !== true)
    this.listKind = options.info.listKind ?? `${options.info.kind}List`
    this.#kindPrefix = Buffer.from(
      `{"kind":${JSON.stringify(options.info.kind)},"apiVersion":${JSON.stringify(this.apiVersion)},`,
    )
  }

  /** The prefix of the keys of a namespace, or of all keys. */
  rootKey(namespace: string): string {
    return this.info.namespaced && namespace !== '' ? `${this.keyPrefix}${namespace}/` : this.keyPrefix
  }

  key(namespace: string, name: string): string {
    return `${this.rootKey(namespace)}${name}`
  }

  /** How many bytes at the start of a body a list leaves out, beside the brace that stays. */
  itemSkip(body: Uint8Array): number {
    if (this.isCustom) return 0
    const prefix = this.#kindPrefix
    // Not byteLength, which V8 of Node 20 asks for by a call: a list of 1,000 objects spent 0.23 ms on it.
    const { length } = prefix
    for (let i = 0; i < length; i++) if (body[i] !== prefix[i]) return 0
    return length - 1
  }

  /**
   * The bytes of a list up to its items. `list` is the kind of the list, when it is not the list kind of this resource.
   */
  listHead(
    revision: number,
    continueToken: string,
    remaining: number | undefined,
    list?: { readonly kind: string; readonly apiVersion: string },
  ): string {
    const own = { kind: this.listKind, apiVersion: this.apiVersion }
    const saysEnd = this.isCustom && (list === undefined || list.kind === own.kind)
    return `${listStart(list ?? own, revision, continueToken, remaining, saysEnd)},"items":[`
  }

  /** The bytes of a Table up to its columns. */
  tableHead(
    revision: number,
    continueToken: string,
    remaining: number | undefined,
    list: { readonly kind: string; readonly apiVersion: string },
  ): string {
    return `${listStart(list, revision, continueToken, remaining)},"columnDefinitions":`
  }

  /** The object of a bookmark, which says nothing but a revision. */
  bookmark(revision: number, initialEventsEnd: boolean): string {
    const annotation = initialEventsEnd ? ',"annotations":{"k8s.io/initial-events-end":"true"}' : ''
    return `{"kind":"${this.info.kind}","apiVersion":"${this.apiVersion}","metadata":{"resourceVersion":"${revision}"${annotation}}}`
  }
}

function listStart(
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
  revision: number,
  continueToken: string,
  remaining: number | undefined,
  /** True for lists of custom objects, whose last page has an empty `continue`. */
  saysEnd = false,
): string {
  const more = continueToken === '' && !saysEnd ? '' : `,"continue":${JSON.stringify(continueToken)}`
  const count = remaining === undefined || remaining <= 0 ? '' : `,"remainingItemCount":${remaining}`
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${revision}"${more}${count}}`
}
