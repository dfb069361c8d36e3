/**
 * Thread: any. managedFields between a resource and its scale subresource: a Scale shows the owners of the replicas and
 * nothing else, and what a write of the Scale makes of them goes back to the resource.
 */
import type { ManagedFieldsEntry } from '../object.js'
import { difference, fieldSet, has, isEmpty, namedFields } from './field-set.js'
import { decodeManagedFields, encodeManagedFields, type Managed, type Owned } from './managed-fields.js'

const SCALE_VERSION = 'autoscaling/v1'
const REPLICAS = ['f:spec', 'f:replicas']

/** Where the replicas are in the resource, by its version: ['f:spec', 'f:replicas']. Undefined: they are nowhere. */
export type ReplicasPaths = ReadonlyMap<string, readonly string[] | undefined>

export class ScaleHandler {
  readonly #parent: Managed
  readonly #apiVersion: string
  readonly #paths: ReplicasPaths

  /** With the managers of the resource and the version at which it is written. */
  constructor(parentEntries: readonly ManagedFieldsEntry[] | undefined, apiVersion: string, paths: ReplicasPaths) {
    this.#parent = decodeManagedFields(parentEntries, 'stored') ?? new Map()
    this.#apiVersion = apiVersion
    this.#paths = paths
  }

  toSubresource(): ManagedFieldsEntry[] | undefined {
    const scale: Managed = new Map()
    for (const [key, owned] of this.#parent) {
      const path = this.#paths.get(owned.manager.apiVersion)
      if (path === undefined || !has(owned.set, path)) continue
      scale.set(key, {
        ...owned,
        manager: { ...owned.manager, apiVersion: SCALE_VERSION },
        set: namedFields('spec.replicas'),
      })
    }
    return encodeManagedFields(scale)
  }

  /** The managers of the resource after a write of its Scale left these. */
  toParent(scaleEntries: readonly ManagedFieldsEntry[] | undefined): ManagedFieldsEntry[] | undefined {
    const scale = this.#scaleManagers(scaleEntries)
    const parent: Managed = new Map()
    for (const [key, owned] of this.#parent) {
      const { apiVersion } = owned.manager
      if (!this.#paths.has(apiVersion)) continue
      const path = this.#paths.get(apiVersion)
      const held = path !== undefined && has(owned.set, path)
      const kept = held && !scale.delete(scaleKey(owned)) ? withoutPath(owned, path) : owned
      if (kept !== undefined) parent.set(key, kept)
    }
    const path = this.#paths.get(this.#apiVersion)
    if (path === undefined) return encodeManagedFields(parent)
    for (const [key, owned] of scale) {
      const manager = { ...owned.manager, apiVersion: this.#apiVersion }
      // As in Kubernetes, the time of the write does not come along.
      parent.set(`scale\n${key}`, { manager, set: fieldSet(path), time: undefined })
    }
    return encodeManagedFields(parent)
  }

  #scaleManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managed {
    const managed: Managed = new Map()
    for (const owned of decodeManagedFields(entries, 'stored')?.values() ?? [])
      if (has(owned.set, REPLICAS)) managed.set(scaleKey(owned), owned)
    return managed
  }
}

/** The same manager on both sides, whichever version its entry shows. */
function scaleKey({ manager: { name, operation, subresource } }: Owned): string {
  return `${operation}\n${subresource}\n${name}`
}

function withoutPath(owned: Owned, path: readonly string[]): Owned | undefined {
  const set = difference(owned.set, fieldSet(path))
  return isEmpty(set) ? undefined : { ...owned, set }
}
