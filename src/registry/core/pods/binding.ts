/** Thread: pool. A pod is given to a node, once: what the scheduler says, and nobody can take back. */

import { FieldPath, notSupported, required } from '../../../api/field-error.js'
import type { Binding, Pod } from '../../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../../api/object.js'
import { describeFieldError, newBadRequest, newConflict, newUnknown, successStatus } from '../../../api/status.js'
import { because, type Errors } from '../../../api/validation/checks.js'
import { isDns1123Subdomain } from '../../../api/validation/names.js'
import type { EndpointHandler, NamedCreate } from '../../generic/endpoint-handler.js'
import type { RegistryStore } from '../../generic/registry-store.js'
import type { HandlerRow } from '../../generic/resource-rest.js'
import { setPodCondition } from './pod-condition.js'

const TARGET = FieldPath.of('target')
/** What named init containers before they had a field; never kept. */
const INIT_CONTAINER_ANNOTATIONS = [
  'pod.alpha.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.beta.kubernetes.io/init-containers',
]

function bindingErrors({ target = {} }: Binding): Errors {
  const { kind = '', name = '' } = target
  const errors: Errors = []
  if (kind !== '' && kind !== 'Node') errors.push(notSupported(TARGET.child('kind'), kind, ['Node', '<empty>']))
  if (name === '') errors.push(required(TARGET.child('name')))
  else if (kind === '' || kind === 'Node') errors.push(...because(isDns1123Subdomain(name), TARGET.child('name'), name))
  return errors
}

/** Expected: the pod cannot be bound as it is. */
class NotBindable extends Error {}

function bind(pod: Pod, binding: Binding, nowMs: number): Pod {
  const metadata = metadataOf(pod)
  pod.spec ??= {}
  pod.status ??= {}
  if (metadata.deletionTimestamp !== undefined)
    throw new NotBindable(`pod ${metadata.name} is being deleted, cannot be assigned to a host`)
  if ((pod.spec.nodeName ?? '') !== '')
    throw new NotBindable(`pod ${metadata.name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`)
  if ((pod.spec.schedulingGates ?? []).length > 0)
    throw new NotBindable(`pod ${metadata.name} has non-empty .spec.schedulingGates`)
  pod.spec.nodeName = binding.target?.name ?? ''
  delete pod.status.nominatedNodeName
  const annotations = { ...metadata.annotations, ...binding.metadata?.annotations }
  for (const key of INIT_CONTAINER_ANNOTATIONS) delete annotations[key]
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations
  const labels = { ...metadata.labels, ...binding.metadata?.labels }
  if (Object.keys(labels).length > 0) metadata.labels = labels
  setPodCondition(pod.status, { type: 'PodScheduled', status: 'True' }, nowMs)
  return pod
}

/** Creates the binding: gives the pod of that name to the node. */
export const bindPod = (store: RegistryStore) => async (request: NamedCreate) => {
  const { context, name, object, validate } = request
  const binding: Binding = object
  const { uid = '', resourceVersion = '' } = metadataOf(binding)
  if (metadataOf(binding).name !== name) throw newBadRequest('name in URL does not match name in Binding object')
  const errors = bindingErrors(binding)
  if (errors.length > 0) {
    const texts = errors.map((error) => `${error.field}: ${describeFieldError(error)}`)
    throw newUnknown(texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`)
  }
  await validate(binding)
  try {
    await store.change(context, name, (pod) => bind(pod, binding, context.now()), {
      ...(uid === '' ? {} : { uid }),
      ...(resourceVersion === '' ? {} : { resourceVersion }),
    })
  } catch (error) {
    if (error instanceof NotBindable) throw newConflict({ group: '', resource: 'pods/binding' }, name, error.message)
    throw error
  }
  return successStatus()
}

export const podBindingRow: HandlerRow = {
  make: ({ store }): EndpointHandler => ({ keepsSystemFields: true, recordsManagers: true, create: bindPod(store) }),
}
