/**
 * Thread: any. The arithmetic of ownership. An update owns what it changes and takes it from whoever had it; an apply owns
 * what it says, must not change what others own unless forced, and removes what it owned, no longer says and nobody else owns.
 */

import { difference, type FieldSet, intersection, isEmpty, LEAF, union } from '../../../api/managed-fields/field-set.js'
import { type Managed, type Manager, managerKey, type Owned } from '../../../api/managed-fields/managed-fields.js'
import type { JsonObject } from '../../../api/object.js'
import type { StructSchema } from '../../../api/schema.js'
import { jsonEqual } from '../patch/json-tree.js'
import { type Comparison, compare } from './compare.js'
import { ConflictError, conflictsOf } from './conflict.js'
import { merge } from './merge.js'
import { fieldsOf, reconciled, withNamedFields } from './object-fields.js'
import { removeFields } from './remove-fields.js'

/** Takes out fields that nobody owns, because the strategy resets them on every write of this (sub)resource. */
export type FieldFilter = (set: FieldSet) => FieldSet

/** An object at one version of its kind. */
export interface Versioned {
  readonly apiVersion: string
  readonly schema: StructSchema
  readonly object: JsonObject
}

/** Objects of one kind at its other versions. */
export interface VersionConverter {
  /** The schema of a version; undefined when the version does not exist (any more). */
  schema(apiVersion: string): StructSchema | undefined
  convert(object: JsonObject, apiVersion: string): JsonObject
}

export interface UpdaterOptions {
  readonly converter: VersionConverter
  readonly filter: (apiVersion: string) => FieldFilter | undefined
}

export class Updater {
  readonly #converter: VersionConverter
  readonly #filter: (apiVersion: string) => FieldFilter | undefined

  constructor({ converter, filter }: UpdaterOptions) {
    this.#converter = converter
    this.#filter = filter
  }

  /** Gives the fields that the update changed, after taking them from the others in the map. */
  update(live: Versioned, next: Versioned, managed: Managed): FieldSet {
    this.#reconcile(managed)
    const changes = this.#compare(live, next)
    this.#resolve(live, next, changes, managed, undefined, true)
    const own = union(changes.modified, changes.added)
    return this.#filter(next.apiVersion)?.(own) ?? own
  }

  /**
   * The object with the configuration applied; undefined when it is as it was. Changes the map; throws a ConflictError.
   */
  apply(
    live: Versioned,
    config: JsonObject,
    managed: Managed,
    manager: Manager,
    force: boolean,
  ): Versioned | undefined {
    this.#reconcile(managed)
    const key = managerKey(manager)
    const last = managed.get(key)
    const set = fieldsOf(live.schema, config)
    const owned = this.#filter(live.apiVersion)?.(set) ?? set
    managed.set(key, { manager, set: owned, time: last?.time })
    const merged = { ...live, object: merge(live.schema, live.object, config) }
    const next =
      last === undefined || saysAll(owned, last, live.apiVersion, managed)
        ? merged
        : this.#prune(merged, managed, last.manager.apiVersion, last.set)
    this.#resolve(live, next, this.#compare(live, next), managed, key, force)
    return jsonEqual(live.object, next.object) ? undefined : next
  }

  /** Takes what has changed from everybody but the one who changed it. */
  #resolve(
    live: Versioned,
    next: Versioned,
    changes: Comparison,
    managed: Managed,
    self: string | undefined,
    force: boolean,
  ): void {
    const versions = new Map<string, Comparison | undefined>([[live.apiVersion, changes]])
    const conflicts: { manager: Manager; set: FieldSet }[] = []
    for (const [key, owned] of managed) {
      if (key === self) continue
      const { apiVersion } = owned.manager
      if (!versions.has(apiVersion)) versions.set(apiVersion, this.#compareAt(live, next, apiVersion))
      const seen = versions.get(apiVersion)
      if (seen === undefined) {
        managed.delete(key)
        continue
      }
      if (isEmpty(seen.added) && isEmpty(seen.modified) && isEmpty(seen.removed)) continue
      const taken = intersection(owned.set, union(seen.modified, seen.added))
      if (!isEmpty(taken)) conflicts.push({ manager: owned.manager, set: taken })
      const left = difference(difference(owned.set, taken), seen.removed)
      if (left !== owned.set) managed.set(key, { ...owned, set: left })
    }
    if (!force && conflicts.length > 0) throw new ConflictError(conflictsOf(conflicts))
    for (const [key, { set }] of managed) if (isEmpty(set)) managed.delete(key)
  }

  #compare(live: Versioned, next: Versioned): Comparison {
    const { added, modified, removed } = compare(live.schema, live.object, next.object)
    const filter = this.#filter(live.apiVersion)
    if (filter === undefined) return { added, modified, removed }
    return { added: filter(added), modified: filter(modified), removed: filter(removed) }
  }

  #compareAt(live: Versioned, next: Versioned, apiVersion: string): Comparison | undefined {
    const before = this.#at(live, apiVersion)
    const after = this.#at(next, apiVersion)
    return before === undefined || after === undefined ? undefined : this.#compare(before, after)
  }

  #at(value: Versioned, apiVersion: string): Versioned | undefined {
    if (value.apiVersion === apiVersion) return value
    const schema = this.#converter.schema(apiVersion)
    if (schema === undefined) return undefined
    return { apiVersion, schema, object: this.#converter.convert(value.object, apiVersion) }
  }

  /** Brings the sets to today's types; managers of versions that are gone are dropped. */
  #reconcile(managed: Managed): void {
    for (const [key, owned] of managed) {
      const schema = this.#converter.schema(owned.manager.apiVersion)
      if (schema === undefined) {
        managed.delete(key)
        continue
      }
      const set = reconciled(owned.set, schema)
      if (set !== owned.set) managed.set(key, { ...owned, set })
    }
  }

  /** Removes the fields that the applier owned before and nobody owns now. */
  #prune(merged: Versioned, managed: Managed, lastVersion: string, last: FieldSet): Versioned {
    const before = this.#at(merged, lastVersion)
    if (before === undefined || isEmpty(last)) return merged
    const lastNamed = withNamedFields(last, before.schema)
    const without = { ...before, object: removeFields(before.schema, before.object, lastNamed) }
    const kept = this.#addBackOwned(before, without, managed)
    const pruned = this.#removeDangling(before, kept, lastNamed)
    return this.#at(pruned, merged.apiVersion) ?? merged
  }

  /**
   * Adds back the fields that somebody owns, in whichever version they own them, beginning with the version of the
   * pruned object.
   */
  #addBackOwned(merged: Versioned, pruned: Versioned, managed: Managed): Versioned {
    const byVersion = new Map<string, FieldSet>([[pruned.apiVersion, LEAF]])
    for (const { manager, set } of managed.values())
      byVersion.set(manager.apiVersion, union(byVersion.get(manager.apiVersion) ?? LEAF, set))
    let kept = pruned
    let whole = merged
    for (const [version, set] of byVersion) {
      const all = this.#at(whole, version)
      const some = this.#at(kept, version)
      if (all === undefined || some === undefined) continue
      const keep = union(namedFieldsOf(some), withNamedFields(set, all.schema))
      const gone = difference(namedFieldsOf(all), keep)
      kept = { ...all, object: removeFields(all.schema, all.object, gone) }
      whole = all
    }
    return kept
  }

  /**
   * Of the fields that pruning took away only those that the applier owned stay away: the others were below or beside
   * them.
   */
  #removeDangling(merged: Versioned, pruned: Versioned, last: FieldSet): Versioned {
    const kept = this.#at(pruned, merged.apiVersion)
    if (kept === undefined) return merged
    const gone = intersection(difference(namedFieldsOf(merged), namedFieldsOf(kept)), last)
    return { ...merged, object: removeFields(merged.schema, merged.object, gone) }
  }
}

/**
 * Whether the applier still says all that it owned before, so that #prune would find nothing to remove: what it says is among the
 * fields that are added back. Most applies are such, and pruning lists the fields of the whole object three times. What was
 * owned in another version, by the applier or by others, is what a conversion makes of the object; there pruning decides.
 */
function saysAll(owned: FieldSet, last: Owned, apiVersion: string, managed: Managed): boolean {
  if (last.manager.apiVersion !== apiVersion) return false
  for (const { manager } of managed.values()) if (manager.apiVersion !== apiVersion) return false
  return isEmpty(difference(last.set, owned))
}

const namedFieldsOf = ({ schema, object }: Versioned): FieldSet => withNamedFields(fieldsOf(schema, object), schema)
