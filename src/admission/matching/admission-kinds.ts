/**
 * Thread: pool. What policies and webhooks need to know of kinds: under which other names an object is served, and how it
 * becomes another version, text, or an object again. Kubernetes' ObjectInterfaces; the workers implement it over their
 * endpoints.
 */
import type { GroupVersionKind, GroupVersionResource } from '../../api/group-version.js'
import type { Json, JsonObject, KubeObject } from '../../api/object.js'

/** A resource or subresource in one version, with the kind of its bodies. */
export interface ServedKind {
  readonly resource: GroupVersionResource
  readonly subresource: string
  readonly kind: GroupVersionKind
}

export interface AdmissionKinds {
  /** Changes whenever resources come, go or change: what was derived from equivalents() is then derived anew. */
  generation(): unknown
  /** Every other version and group under which the same objects are served, in the order of discovery. */
  equivalents(resource: GroupVersionResource, subresource: string): readonly ServedKind[]
  /** The object in the version of the kind; the object itself when it is in that version. Throws when it cannot be. */
  convert(object: KubeObject, target: ServedKind): KubeObject | Promise<KubeObject>
  /** The object's JSON as clients get it. */
  encode(object: KubeObject, target: ServedKind): string
  /** The tree that this JSON is parsed to; it is not to be changed, since it shares what it can with the object. */
  tree(object: KubeObject, target: ServedKind): JsonObject
  /** An object made of a tree: without unknown fields, with defaults. Throws when the tree does not fit the kind. */
  decode(tree: Json, target: ServedKind): KubeObject
  /** As decode, for a tree that must not have fields that the kind does not know. */
  decodeStrictly(tree: Json, target: ServedKind): KubeObject
  /**
   * The tree of an object with an apply configuration merged into it, as server-side apply merges. Throws an error whose message
   * says what does not fit the kind, or names values that can only be replaced as a whole (atomic lists, maps and structs).
   */
  merge(tree: JsonObject, configuration: JsonObject, target: ServedKind): JsonObject
  /** Whether a kind comes from a definition. */
  isCustom(target: ServedKind): boolean
  /** The resource of a kind, and whether it is in namespaces; undefined when the kind is not served. */
  resourceOf(kind: GroupVersionKind): { readonly served: ServedKind; readonly namespaced: boolean } | undefined
  /** The tree with a JSON patch applied; undefined when a `test` in it fails. Throws PatchError or the like, whose message says why. */
  patchIfTested(tree: Json, patch: Json): Json | undefined
  /** The tree with a JSON patch applied. Throws PatchError or the like, whose message says why. */
  patch(tree: Json, patch: Json): Json
}
