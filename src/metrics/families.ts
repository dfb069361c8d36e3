/**
 * Thread: any. Every metric that threads count in shared memory: kube-apiserver's names, labels and buckets where it has
 * one, keelson_… for what is ours. The groups stand in families/; docs/metrics.md is generated from them. Ids are given here and
 * nowhere else, because threads name a family to each other by its id: it must not depend on which group a thread imports first.
 */
import { admissionDefinitions } from './families/admission.js'
import { auditDefinitions } from './families/audit.js'
import { authDefinitions } from './families/auth.js'
import { conversionDefinitions } from './families/conversion.js'
import type { FamilyDefinition } from './families/definition.js'
import { flowDefinitions } from './families/flow-control.js'
import { processDefinitions } from './families/process.js'
import { requestDefinitions } from './families/requests.js'
import { storageDefinitions } from './families/storage.js'
import { tracingDefinitions } from './families/tracing.js'
import { cacheDefinitions } from './families/watch-cache.js'
import { watchDefinitions } from './families/watches.js'
import { workqueueDefinitions } from './families/workqueues.js'
import type { Family } from './family.js'

const table: Family[] = []

function numbered<Name extends string>(
  definitions: Readonly<Record<Name, FamilyDefinition>>,
): Readonly<Record<Name, Family>> {
  const families: Partial<Record<Name, Family>> = {}
  for (const name in definitions) {
    const family: Family = { id: table.length, ...definitions[name] }
    families[name] = family
    table.push(family)
  }
  return families as Record<Name, Family>
}

export const requestFamilies = numbered(requestDefinitions)
export const authFamilies = numbered(authDefinitions)
export const flowFamilies = numbered(flowDefinitions)
export const watchFamilies = numbered(watchDefinitions)
export const cacheFamilies = numbered(cacheDefinitions)
export const storageFamilies = numbered(storageDefinitions)
export const admissionFamilies = numbered(admissionDefinitions)
export const processFamilies = numbered(processDefinitions)
export const workqueueFamilies = numbered(workqueueDefinitions)
export const auditFamilies = numbered(auditDefinitions)
export const conversionFamilies = numbered(conversionDefinitions)
export const tracingFamilies = numbered(tracingDefinitions)

/** All families, each at its id. */
export const FAMILIES: readonly Family[] = table
