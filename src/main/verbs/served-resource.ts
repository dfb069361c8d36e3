/** Thread: main. A resource as the front end serves it from shared memory: keys, kinds and the bytes around objects. */
import type { ResourceInfo } from '../../api/catalogue.js'
import { formatGroupVersion } from '../../api/group-version.js'
import { warningValue } from '../http/respond-encoded.js'

/** By name; `subpath`: what is behind it in the path, and every method, is passed on too. */
export type ConnectedSubresources = Readonly<Record<string, { readonly subpath?: boolean }>>

const CONNECTS_NOTHING: ConnectedSubresources = {}

export interface ServedResourceOptions {
  readonly info: ResourceInfo
  /** Which arena holds its objects. */
  readonly arena: string
  /** `/registry/pods/` */
  readonly keyPrefix: string
  /** The objects in memory are in this version: no conversion is needed to serve them. */
  readonly direct: boolean
  /** Custom resources keep kind and apiVersion in the items of a list; built-in ones do not. */
  readonly itemsCarryKind: boolean
  /** The fields that selectors may name. */
  readonly selectableFields: readonly string[]
  /** Of them, those that no object has. */
  readonly phantomFields?: readonly string[]
  /** The warning with every answer; undefined for most. */
  readonly deprecation?: string | undefined
  /** Subresources that another server answers. */
  readonly connects?: ConnectedSubresources
}

export class ServedResource {
  readonly info: ResourceInfo
  readonly arena: string
  readonly keyPrefix: string
  readonly direct: boolean
  readonly selectableFields: readonly string[]
  /** Of them, those that objects have: some may be named though no object has them. */
  readonly indexedFields: readonly string[]
  readonly connects: ConnectedSubresources
  readonly apiVersion: string
  readonly listKind: string
  /** Headers for every answer about it; undefined for most. */
  readonly headers: readonly string[] | undefined
  /** What every object in memory starts with. */
  readonly #kindPrefix: Uint8Array
  readonly itemsCarryKind: boolean

  constructor(options: ServedResourceOptions) {
    this.info = options.info
    this.arena = options.arena
    this.keyPrefix = options.keyPrefix
    this.direct = options.direct
    this.selectableFields = options.selectableFields
    this.itemsCarryKind = options.itemsCarryKind
    this.connects = options.connects ?? CONNECTS_NOTHING
    this.apiVersion = formatGroupVersion(options.info)
    const { deprecation } = options
    this.headers = deprecation === undefined ? undefined : ['Warning', warningValue(deprecation)]
    this.indexedFields = options.selectableFields.filter((field) => options.phantomFields?.includes(field) !== true)
    this.listKind = `${options.info.kind}List`
    this.#kindPrefix = Buffer.from(
      `{"kind":${JSON.stringify(options.info.kind)},"apiVersion":${JSON.stringify(this.apiVersion)},`,
    )
  }

  /** The key of an object, or the prefix of the keys of a namespace or of all. */
  rootKey(namespace: string): string {
    return this.info.namespaced && namespace !== '' ? `${this.keyPrefix}${namespace}/` : this.keyPrefix
  }

  key(namespace: string, name: string): string {
    return `${this.rootKey(namespace)}${name}`
  }

  /** How many bytes at the start of a body a list leaves out, beside the brace that stays. */
  itemSkip(body: Uint8Array): number {
    if (this.itemsCarryKind) return 0
    const prefix = this.#kindPrefix
    for (let i = 0; i < prefix.byteLength; i++) if (body[i] !== prefix[i]) return 0
    return prefix.byteLength - 1
  }

  /** `list`: what the list is, when it is not one of these objects. */
  listHead(
    revision: number,
    continueToken: string,
    remaining: number | undefined,
    list: { readonly kind: string; readonly apiVersion: string } = { kind: this.listKind, apiVersion: this.apiVersion },
  ): string {
    return `${listStart(list, revision, continueToken, remaining)},"items":[`
  }

  /** Up to the columns of a Table. */
  tableHead(
    revision: number,
    continueToken: string,
    remaining: number | undefined,
    list: { readonly kind: string; readonly apiVersion: string },
  ): string {
    return `${listStart(list, revision, continueToken, remaining)},"columnDefinitions":`
  }

  /** The object of a bookmark: nothing but a revision. */
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
): string {
  const more = continueToken === '' ? '' : `,"continue":${JSON.stringify(continueToken)}`
  const count = remaining === undefined || remaining <= 0 ? '' : `,"remainingItemCount":${remaining}`
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${revision}"${more}${count}}`
}
