/** Thread: pool. A request as admission sees it, and mutating admission with what is checked of its results. */
import type { AdmissionAttributes, AdmissionOperation } from '../../admission/chain.js'
import { decodeManagedFields } from '../../api/managed-fields/managed-fields.js'
import { type KubeObject, metadataOf, type ObjectMeta, type OwnerReference } from '../../api/object.js'
import type { RequestInfo } from '../../api/request-info.js'
import type { WorkerRequest } from './request.js'

/**
 * Runs validating admission for one attempt at a write. What plugins took for the attempt before, such as quota, is
 * given back first.
 */
export async function validateAttempt(worker: WorkerRequest, attributes: AdmissionAttributes): Promise<void> {
  await worker.settle(false)
  await worker.admission.validate(attributes)
}

const DOUBLED_OWNERS =
  '.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests'

const BAD_MANAGERS =
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests'

/**
 * Runs mutating admission on an object to be written: it is in its namespace before, and has each owner once afterwards, and managers
 * that can be read.
 */
export async function admitObject(worker: WorkerRequest, attributes: AdmissionAttributes): Promise<void> {
  const { endpoint, request } = worker
  const { object } = attributes
  if (object !== undefined && endpoint.info.namespaced) metadataOf(object).namespace ??= request.info.namespace
  const managers = object?.metadata?.managedFields
  await worker.admission.admit(attributes)
  if (object === undefined) return
  if (restoreManagers(object, managers)) worker.addWarning(BAD_MANAGERS)
  if (dropDoubledOwners(object)) worker.addWarning(DOUBLED_OWNERS)
}

/** Puts back what admission has made unreadable. What it left alone was read before. */
function restoreManagers(object: KubeObject, before: ObjectMeta['managedFields']): boolean {
  const metadata = metadataOf(object)
  const { managedFields } = metadata
  if (managedFields === before || decodeManagedFields(managedFields, 'request') !== undefined) return false
  if (before === undefined) delete metadata.managedFields
  else metadata.managedFields = before
  return true
}

function dropDoubledOwners(object: KubeObject): boolean {
  const metadata = metadataOf(object)
  const { ownerReferences } = metadata
  if (ownerReferences === undefined || ownerReferences.length < 2) return false
  const distinct = new Map<string, OwnerReference>()
  for (const owner of ownerReferences) {
    const key = JSON.stringify(Object.entries(owner).sort(([a], [b]) => (a < b ? -1 : 1)))
    if (!distinct.has(key)) distinct.set(key, owner)
  }
  if (distinct.size === ownerReferences.length) return false
  metadata.ownerReferences = [...distinct.values()]
  return true
}

export function admissionAttributes(
  worker: WorkerRequest,
  operation: AdmissionOperation,
  dryRun: boolean,
  objects: { readonly object?: KubeObject; readonly oldObject?: KubeObject; readonly name: string },
  options: object = worker.operationOptions(),
): AdmissionAttributes {
  const { info, user } = worker.request
  const { endpoint } = worker
  return {
    operation,
    resource: { group: info.apiGroup, version: info.apiVersion, resource: info.resource },
    subresource: info.subresource,
    kind: endpoint.kind,
    name: objects.name,
    namespace: endpoint.info.namespaced ? info.namespace : isNamespace(info) ? objects.name : '',
    object: objects.object,
    oldObject: objects.oldObject,
    options,
    dryRun,
    deadlineMs: worker.request.deadlineMs,
    user,
    signal: worker.signal,
    reinvocation: { isReinvoke: false, requested: false },
    addWarning: worker.addWarning,
    addAnnotation: worker.addAnnotation,
    onOutcome: worker.onOutcome,
  }
}

/** A custom resource may be called namespaces too. */
const isNamespace = ({ apiGroup, resource }: RequestInfo): boolean => apiGroup === '' && resource === 'namespaces'
