/**
 * Thread: any. Keeps metadata.managedFields for one resource or subresource. Call `update` with the object as the client
 * means it, decoded and defaulted, before admission and the strategy touch it; default what `apply` returns.
 */

import { difference, isEmpty, namedFields, union } from '../../../api/managed-fields/field-set.js'
import {
  decodeManagedFields,
  encodeManagedFields,
  type Managed,
  type Manager,
  managerKey,
  type Operation,
} from '../../../api/managed-fields/managed-fields.js'
import type { Json, JsonObject, ManagedFieldsEntry } from '../../../api/object.js'
import type { StructSchema } from '../../../api/schema.js'
import { newBadRequest, newUnknown } from '../../../api/status.js'
import { isObject } from '../patch/json-tree.js'
import { capUpdateManagers } from './cap-managers.js'
import { ConflictError } from './conflict.js'
import { emptyObject } from './empty-object.js'
import { fitsType } from './fits-type.js'
import { fieldsLastApplied, KUBECTL, lastAppliedOf, withLastApplied } from './last-applied.js'
import { merge } from './merge.js'
import { TypedError } from './typed-error.js'
import { type FieldFilter, Updater, type VersionConverter, type Versioned } from './updater.js'
import { validateApplied, validateTyped } from './validate-applied.js'
import { withoutNulls } from './without-nulls.js'

/** Fields that nobody owns, because the server itself keeps them. */
const STRIPPED = namedFields(
  'apiVersion',
  'kind',
  'metadata',
  'metadata.name',
  'metadata.namespace',
  'metadata.creationTimestamp',
  'metadata.selfLink',
  'metadata.uid',
  'metadata.clusterName',
  'metadata.generation',
  'metadata.managedFields',
  'metadata.resourceVersion',
)

/** The manager that owns what was there when an object without managers is applied to for the first time. */
const BEFORE_FIRST_APPLY = 'before-first-apply'

export interface FieldManagerOptions {
  /** The version of the resource: `apps/v1`. */
  readonly apiVersion: string
  readonly kind: string
  readonly schema: StructSchema
  /** The subresource; '' for the resource itself. */
  readonly subresource?: string
  /**
   * Filters by version that take away the fields that the strategy resets, such as status on writes of the resource.
   */
  readonly resetFields?: ReadonlyMap<string, FieldFilter>
  /** Whether the resource is a custom one, whose fields are there only when they are set, and may be null. */
  readonly custom?: boolean
  /** Converts to other versions; without it the managers of other versions are forgotten. */
  readonly converter?: VersionConverter
}

export interface ApplyOptions {
  readonly force?: boolean
  /** The time of the write in milliseconds since 1970. */
  readonly now: number
}

export interface ApplyResult {
  readonly object: JsonObject
  /** False when object and managers are as they were, so that there is nothing to write. */
  readonly changed: boolean
}

export class FieldManager {
  readonly #apiVersion: string
  readonly #kind: string
  readonly #schema: StructSchema
  readonly #subresource: string
  readonly #custom: boolean
  readonly #empty: JsonObject
  readonly #updater: Updater
  #second = Number.NaN
  #secondText = ''

  constructor({
    apiVersion,
    kind,
    schema,
    subresource = '',
    resetFields,
    custom = false,
    converter,
  }: FieldManagerOptions) {
    this.#apiVersion = apiVersion
    this.#kind = kind
    this.#schema = schema
    this.#subresource = subresource
    this.#custom = custom
    this.#empty = custom ? {} : emptyObject(schema)
    this.#updater = new Updater({
      converter: {
        schema: (version) => (version === apiVersion ? schema : converter?.schema(version)),
        convert: (object, version) => {
          const converted = converter?.convert(object, version) ?? object
          const other = custom ? converter?.schema(version) : undefined
          if (other !== undefined) validateTyped(other, converted)
          return converted
        },
      },
      filter: (version) => resetFields?.get(version),
    })
  }

  /**
   * The object with managedFields as this write leaves them: whoever changed a field owns it now. `live` is undefined on a
   * create. Never fails: of an object that does not fit its type (an item without any of its keys) nothing is known, and as
   * in Kubernetes it has no managers from then on.
   */
  update(
    live: JsonObject | undefined,
    next: JsonObject,
    manager: string,
    { now }: { readonly now: number },
  ): JsonObject {
    const managed = this.#liveOrNew(live, next)
    try {
      this.#update(live, next, managed, manager, this.#timeText(now))
      return withManagedFields(next, encodeManagedFields(managed))
    } catch (error) {
      if (!(error instanceof TypedError)) throw error
      return withManagedFields(next, undefined)
    }
  }

  /** The configuration applied to the live object, which is undefined when there is none yet. Throws a StatusError. */
  apply(live: JsonObject | undefined, applied: JsonObject, manager: string, options: ApplyOptions): ApplyResult {
    this.#checkKind(applied)
    const managed = decodeManagedFields(entriesOf(live), 'stored')
    if (managed === undefined) throw newUnknown('failed to decode managed fields')
    const base = live ?? { apiVersion: this.#apiVersion, kind: this.#kind }
    if (managed.size === 0) this.#adoptExisting(live, managed, this.#timeText(options.now))
    this.#checkApplied(applied)
    try {
      const next = this.#applyOrTakeOver(base, applied, managed, this.#manager(manager, 'Apply'), options)
      return this.#finish(live, base, applied, next, managed, manager)
    } catch (error) {
      if (error instanceof ConflictError) throw error.toStatusError()
      if (error instanceof TypedError) throw newUnknown(`failed to merge config: ${error.message}`)
      throw error
    }
  }

  #update(live: JsonObject | undefined, next: JsonObject, managed: Managed, manager: string, time: string): void {
    // An object that has lost its managers, or never had any, is not given new ones by an update.
    if (managed.size === 0 && uidOf(live) !== undefined) return
    // A custom object may be of any type until it is validated, and what is stored may be older than its schema.
    if (this.#custom)
      for (const object of [live, next])
        if (object !== undefined && !fitsType(this.#schema, object)) validateTyped(this.#schema, object)
    this.#own(live ?? this.#empty, next, managed, this.#manager(manager, 'Update'), time)
    capUpdateManagers(managed)
  }

  #own(live: JsonObject, next: JsonObject, managed: Managed, manager: Manager, time: string): void {
    const own = difference(this.#updater.update(this.#versioned(live), this.#versioned(next), managed), STRIPPED)
    if (isEmpty(own)) return
    const key = managerKey(manager)
    const previous = managed.get(key)
    managed.set(key, { manager, set: previous === undefined ? own : union(own, previous.set), time })
  }

  #adoptExisting(live: JsonObject | undefined, managed: Managed, time: string): void {
    if (live === undefined) return
    try {
      this.#own(this.#empty, live, managed, this.#manager(BEFORE_FIRST_APPLY, 'Update'), time)
    } catch (error) {
      if (!(error instanceof TypedError)) throw error
      throw newUnknown(`failed to create manager for existing fields: ${error.message}`)
    }
  }

  /** An apply by kubectl may take what its client-side apply had set, as long as it is unchanged. */
  #applyOrTakeOver(
    base: JsonObject,
    applied: JsonObject,
    managed: Managed,
    manager: Manager,
    { force = false, now }: ApplyOptions,
  ): JsonObject | undefined {
    const before = new Map(managed)
    const run = (forced: boolean): JsonObject | undefined => {
      const next = this.#updater.apply(this.#versioned(base), applied, managed, manager, forced)?.object
      this.#settle(managed, manager, next === undefined ? undefined : this.#timeText(now))
      return next
    }
    try {
      return run(force)
    } catch (error) {
      if (!(error instanceof ConflictError) || manager.name !== KUBECTL) throw error
      const allowed = fieldsLastApplied(this.#schema, base, this.#apiVersion)
      const left = allowed === undefined ? error : error.without(allowed)
      if (left !== undefined) throw left
      managed.clear()
      for (const [key, owned] of before) managed.set(key, owned)
      return run(true)
    }
  }

  /** Strips the applier's set and gives it its time when something has changed. */
  #settle(managed: Managed, manager: Manager, time: string | undefined): void {
    const key = managerKey(manager)
    const owned = managed.get(key)
    if (owned === undefined) return
    const set = difference(owned.set, STRIPPED)
    if (isEmpty(set)) managed.delete(key)
    else managed.set(key, { manager, set, time: time ?? owned.time })
  }

  #finish(
    live: JsonObject | undefined,
    base: JsonObject,
    applied: JsonObject,
    next: JsonObject | undefined,
    managed: Managed,
    manager: string,
  ): ApplyResult {
    const merged = next === undefined ? base : this.#settled(live, applied, next)
    const takesOver = manager === KUBECTL && lastAppliedOf(merged) !== undefined
    const object = takesOver ? withLastApplied(merged, applied) : merged
    const entries = encodeManagedFields(managed)
    const same = next === undefined && JSON.stringify(entries) === JSON.stringify(entriesOf(live))
    const annotationSame = !takesOver || lastAppliedOf(object) === lastAppliedOf(base)
    return { object: withManagedFields(object, entries), changed: live === undefined || !same || !annotationSame }
  }

  /**
   * A value that was applied empty stays, empty, when all that was in it has been removed. (Kubernetes loses it, as in
   * `emptyDir: {}` after `emptyDir: {medium: Memory}`.)
   */
  #settled(live: JsonObject | undefined, applied: JsonObject, next: JsonObject): JsonObject {
    const whole = live === undefined ? next : merge(this.#schema, next, applied)
    return withoutNulls(this.#schema, whole, this.#custom ? [live, applied] : []) as JsonObject
  }

  /** A request may set managedFields, or clear them with one empty entry; on a subresource it may not. */
  #liveOrNew(live: JsonObject | undefined, next: JsonObject): Managed {
    const stored = (): Managed => decodeManagedFields(entriesOf(live), 'stored') ?? new Map()
    if (this.#subresource !== '') return stored()
    const entries = entriesOf(next)
    if (entries === undefined) return stored()
    if (isReset(entries)) return new Map()
    // Most requests leave the managed fields as they are.
    if (entries === entriesOf(live)) return stored()
    const given = decodeManagedFields(entries, 'request')
    return given === undefined || given.size === 0 ? stored() : given
  }

  #checkKind({ apiVersion, kind }: JsonObject): void {
    if (apiVersion === this.#apiVersion && kind === this.#kind) return
    const version = typeof apiVersion === 'string' && apiVersion !== '' ? apiVersion : '/'
    throw newBadRequest(`invalid object type: ${version}, Kind=${typeof kind === 'string' ? kind : ''}`)
  }

  #checkApplied(applied: JsonObject): void {
    if (entriesOf(applied) !== undefined) throw newBadRequest('metadata.managedFields must be nil')
    try {
      validateApplied(this.#schema, applied)
    } catch (error) {
      if (!(error instanceof TypedError)) throw error
      const { namespace = '', name = '' } = isObject(applied['metadata']) ? applied['metadata'] : {}
      const who = `${String(namespace)}/${String(name)}; ${this.#apiVersion}, Kind=${this.#kind}`
      throw newUnknown(`failed to create typed patch object (${who}): ${error.message}`)
    }
  }

  /** A time in RFC 3339 with seconds; most writes come in the same second as the one before. */
  #timeText(now: number): string {
    const second = Math.floor(now / 1000)
    if (second !== this.#second) this.#secondText = `${new Date(second * 1000).toISOString().slice(0, 19)}Z`
    this.#second = second
    return this.#secondText
  }

  #versioned(object: JsonObject): Versioned {
    return { apiVersion: this.#apiVersion, schema: this.#schema, object }
  }

  #manager(name: string, operation: Operation): Manager {
    return {
      name: name === '' ? 'unknown' : name,
      operation,
      apiVersion: this.#apiVersion,
      subresource: this.#subresource,
    }
  }
}

function entriesOf(object: JsonObject | undefined): ManagedFieldsEntry[] | undefined {
  const metadata = object?.['metadata']
  const entries = isObject(metadata) ? metadata['managedFields'] : undefined
  return Array.isArray(entries) ? (entries as ManagedFieldsEntry[]) : undefined
}

function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  const [only] = entries
  return only === undefined || (entries.length === 1 && isObject(only as Json) && Object.keys(only).length === 0)
}

function uidOf(object: JsonObject | undefined): string | undefined {
  const metadata = object?.['metadata']
  const uid = isObject(metadata) ? metadata['uid'] : undefined
  return typeof uid === 'string' && uid !== '' ? uid : undefined
}

function withManagedFields(object: JsonObject, entries: ManagedFieldsEntry[] | undefined): JsonObject {
  const metadata = { ...(isObject(object['metadata']) ? object['metadata'] : {}) }
  if (entries === undefined) delete metadata['managedFields']
  else metadata['managedFields'] = entries as unknown as JsonObject[]
  return { ...object, metadata }
}
