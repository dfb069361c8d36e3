/** Thread: pool. What became of a claim for storage: its size, and how far a change of it is. */

import { FieldPath, notSupported } from '../../../api/field-error.js'
import type { PersistentVolumeClaimStatus } from '../../../api/generated/kinds/core.v1.js'
import { type Errors, qualifiedName } from '../../../api/validation/checks.js'
import { isNativeResource, nonnegativeQuantity, resourceQuantity } from '../../../api/validation/quantities.js'

const STATUS = FieldPath.of('status')
const RESIZE_STATUSES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizePending',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
]

export function claimStatusErrors({
  capacity,
  allocatedResources,
  allocatedResourceStatuses,
}: PersistentVolumeClaimStatus): Errors {
  const [sizes, statuses] = [STATUS.child('allocatedResources'), STATUS.child('allocatedResourceStatuses')]
  return [
    ...Object.entries(capacity ?? {}).flatMap(([name, amount]) =>
      nonnegativeQuantity(amount, STATUS.child('capacity').key(name)),
    ),
    ...Object.entries(allocatedResourceStatuses ?? {}).flatMap(([name, status]) => [
      ...nameErrors(name, statuses),
      ...(RESIZE_STATUSES.includes(status) ? [] : [notSupported(statuses, name, RESIZE_STATUSES)]),
    ]),
    ...Object.entries(allocatedResources ?? {}).flatMap(([name, amount]) => {
      const errors = nameErrors(name, sizes)
      return errors.length > 0 ? errors : resourceQuantity('storage', amount, sizes.key(name))
    }),
  ]
}

/** Of Kubernetes' own resources storage alone is claimed here. */
function nameErrors(name: string, path: FieldPath): Errors {
  const errors = qualifiedName(name, path)
  if (errors.length > 0 || name === 'storage' || !isNativeResource(name)) return errors
  return [notSupported(path, name, ['storage'])]
}
