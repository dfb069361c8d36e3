/** Thread: pool. Admission's view of a request. */
import type { AdmissionAttributes, AdmissionOperation } from '../../admission/chain.js'
import type { KubeObject } from '../../api/object.js'
import type { WorkerRequest } from './request.js'

/** Validating admission of one attempt at a write. What plugins took for the attempt before, as quota, is given back first. */
export async function validateAttempt(worker: WorkerRequest, attributes: AdmissionAttributes): Promise<void> {
  await worker.settle(false)
  await worker.admission.validate(attributes)
}

export function admissionAttributes(
  worker: WorkerRequest,
  operation: AdmissionOperation,
  dryRun: boolean,
  objects: { readonly object?: KubeObject; readonly oldObject?: KubeObject; readonly name: string },
  options: object = {},
): AdmissionAttributes {
  const { info, user } = worker.request
  const { endpoint } = worker
  return {
    operation,
    resource: { group: info.apiGroup, version: info.apiVersion, resource: info.resource },
    subresource: info.subresource,
    kind: endpoint.kind,
    name: objects.name,
    namespace: endpoint.info.namespaced ? info.namespace : info.resource === 'namespaces' ? objects.name : '',
    object: objects.object,
    oldObject: objects.oldObject,
    options,
    dryRun,
    user,
    signal: worker.signal,
    reinvocation: { isReinvoke: false, requested: false },
    addWarning: worker.addWarning,
    addAnnotation: worker.addAnnotation,
    onOutcome: worker.onOutcome,
  }
}
