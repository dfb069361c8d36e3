/** Thread: any. Who owns which fields of an object: metadata.managedFields, read and written. */
import type { JsonObject, ManagedFieldsEntry } from '../object.js'
import { type FieldSet, LEAF } from './field-set.js'
import { decodeFieldsV1 } from './fields-v1.js'
import { compareText } from './path-element.js'

export type Operation = 'Apply' | 'Update'

/** Somebody who writes: an applier is one whichever version it uses, an updater one a version. */
export interface Manager {
  readonly name: string
  readonly operation: Operation
  readonly apiVersion: string
  readonly subresource: string
}

export interface Owned {
  readonly manager: Manager
  readonly set: FieldSet
  /** RFC 3339; absent when the manager never changed anything. */
  readonly time: string | undefined
}

/** By manager key. */
export type Managed = Map<string, Owned>

export function managerKey({ name, operation, apiVersion, subresource }: Manager): string {
  return `${operation}\n${operation === 'Update' ? apiVersion : ''}\n${subresource}\n${name}`
}

/** The identity as Kubernetes spells it, by which it sorts managers. */
export function managerIdentity({ name, operation, apiVersion, subresource }: Manager): string {
  const identity: Record<string, string> = {}
  if (name !== '') identity['manager'] = name
  identity['operation'] = operation
  if (operation === 'Update') identity['apiVersion'] = apiVersion
  if (subresource !== '') identity['subresource'] = subresource
  return JSON.stringify(identity)
}

/** Reads entries; undefined when one is malformed. Those of a request are checked to the last element. */
export function decodeManagedFields(
  entries: readonly ManagedFieldsEntry[] | undefined,
  origin: 'stored' | 'request',
): Managed | undefined {
  const managed: Managed = new Map()
  if (!Array.isArray(entries)) return managed
  for (const entry of entries as readonly (ManagedFieldsEntry | null)[]) {
    if (typeof entry !== 'object' || entry === null) return undefined
    const { operation, apiVersion, fieldsType, fieldsV1 } = entry
    if (![entry.manager, apiVersion, entry.subresource, entry.time].every(isText)) return undefined
    if (operation !== 'Apply' && operation !== 'Update') return undefined
    if (!apiVersion || fieldsType !== 'FieldsV1') return undefined
    const manager = { name: entry.manager ?? '', operation, apiVersion, subresource: entry.subresource ?? '' } as const
    // What is stored was written in the one spelling, by us or by kube-apiserver.
    const set = origin === 'stored' ? ((fieldsV1 ?? LEAF) as FieldSet) : checkedFields(fieldsV1)
    if (set === undefined) return undefined
    managed.set(managerKey(manager), { manager, set, time: entry.time ?? undefined })
  }
  return managed
}

const isText = (value: string | null | undefined): boolean =>
  value === undefined || value === null || typeof value === 'string'

function checkedFields(fields: JsonObject | undefined): FieldSet | undefined {
  try {
    return decodeFieldsV1(fields)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The entries in Kubernetes' order: appliers first, then by time, manager, version and subresource. None: undefined. */
export function encodeManagedFields(managed: Managed): ManagedFieldsEntry[] | undefined {
  if (managed.size === 0) return undefined
  const entries = [...managed.values()].map(encodeEntry)
  return entries.length === 1 ? entries : entries.sort(compareEntries)
}

function encodeEntry({ manager, set, time }: Owned): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = {}
  if (manager.name !== '') entry.manager = manager.name
  entry.operation = manager.operation
  entry.apiVersion = manager.apiVersion
  if (time !== undefined) entry.time = time
  entry.fieldsType = 'FieldsV1'
  entry.fieldsV1 = set as JsonObject
  if (manager.subresource !== '') entry.subresource = manager.subresource
  return entry
}

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation ?? '', b.operation ?? '') ||
    seconds(a.time) - seconds(b.time) ||
    compareText(a.manager ?? '', b.manager ?? '') ||
    compareText(a.apiVersion ?? '', b.apiVersion ?? '') ||
    compareText(a.subresource ?? '', b.subresource ?? '')
  )
}

/** Unix seconds; no time is the beginning of it. */
export function seconds(time: string | undefined): number {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000)
}
