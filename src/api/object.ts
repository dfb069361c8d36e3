/** Thread: any. What every Kubernetes object has, whatever its kind. Objects are plain JSON trees. */

import type { Int64 } from './scalar-types.js'

/** JSON as Kubernetes means it: an integer outside JavaScript's safe range is a bigint, everything else as in JSON. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json | undefined }
export type JsonObject = { [key: string]: Json | undefined }

export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

export interface ManagedFieldsEntry {
  manager?: string
  operation?: string
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: JsonObject
  subresource?: string
}

export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: Int64
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: Int64
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata?: ObjectMeta
  [field: string]: unknown
}

/** The metadata of an object, made when it has none. */
export function metadataOf(object: KubeObject): ObjectMeta {
  object.metadata ??= {}
  return object.metadata
}

/** One more, as Go counts: after the largest comes the smallest. */
export function nextGeneration({ generation = 0 }: ObjectMeta): Int64 {
  if (typeof generation === 'number' && Number.isSafeInteger(generation + 1)) return generation + 1
  return BigInt.asIntN(64, BigInt(generation) + 1n)
}

/**
 * Objects are plain trees, so copying one takes an eighth of what structuredClone does (0.9 instead of 6.7 us for a small
 * ConfigMap). Spreading keeps members whatever they are called, `__proto__` too.
 */
export function deepCopy<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(deepCopy) as T
  const copy = { ...value } as Record<string, unknown>
  for (const key of Object.keys(copy)) {
    const member = copy[key]
    if (typeof member === 'object' && member !== null) copy[key] = deepCopy(member)
  }
  return copy as T
}
