/** Thread: pool. CSIStorageCapacities: how much room a class of storage has where. */

import { FieldPath } from '../../../api/field-error.js'
import type { CSIStorageCapacity } from '../../../api/generated/kinds/storage.v1.js'
import { dnsSubdomain, type Errors, givenBy, immutable } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { nonnegativeQuantity } from '../../../api/validation/quantities.js'
import { nodeLabelWarnings } from '../../core/node-labels.js'
import type { ResourceRules } from '../../generic/resource-rules.js'

const TOPOLOGY = FieldPath.of('nodeTopology')
const CLASS = FieldPath.of('storageClassName')

function errorsOf(object: CSIStorageCapacity, anyValues: boolean): Errors {
  const { nodeTopology, storageClassName = '', capacity } = object
  return [
    ...labelSelectorErrors(nodeTopology, TOPOLOGY, { anyValues }),
    ...dnsSubdomain(storageClassName, CLASS),
    ...givenBy(capacity, FieldPath.of('capacity'), nonnegativeQuantity),
  ]
}

function warnings(object: CSIStorageCapacity): string[] {
  const { matchLabels = {}, matchExpressions = [] } = object.nodeTopology ?? {}
  return [
    ...matchExpressions.flatMap(({ key = '' }, i) =>
      nodeLabelWarnings(key, TOPOLOGY.child('matchExpressions').index(i).child('key')),
    ),
    ...Object.keys(matchLabels).flatMap((key) => nodeLabelWarnings(key, TOPOLOGY.child('matchLabels').key(key))),
  ]
}

export const csiStorageCapacityRules: ResourceRules<CSIStorageCapacity> = {
  allowUnconditionalUpdate: false,
  validate: (object) => errorsOf(object, false),
  validateUpdate: (object, old) => [
    ...errorsOf(object, labelSelectorErrors(old.nodeTopology, TOPOLOGY).length > 0),
    ...immutable(object['nodeTopology'], old['nodeTopology'], TOPOLOGY),
    ...immutable(object['storageClassName'], old['storageClassName'], CLASS),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
}
