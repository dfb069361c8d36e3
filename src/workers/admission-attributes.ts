/** Thread: pool. Admission's view of a request. */
import type { AdmissionAttributes, AdmissionOperation } from '../admission/chain.js'
import type { KubeObject } from '../api/object.js'
import type { WorkerRequest } from './request.js'

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
    addWarning: worker.addWarning,
  }
}
