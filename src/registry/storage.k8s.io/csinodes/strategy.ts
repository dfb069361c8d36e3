/** Thread: pool. CSINodes: the drivers on a node. What a driver said of itself stays, but for how much it can attach. */

import { duplicate, FieldPath, invalid, required } from '../../../api/field-error.js'
import type { CSINode, CSINodeDriver } from '../../../api/generated/kinds/storage.v1.js'
import { type Errors, each, immutable, type List, nonnegative, qualifiedName } from '../../../api/validation/checks.js'
import { firstByName } from '../../generic/first-by-name.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { driverNameErrors } from '../parameters.js'

const DRIVERS = FieldPath.of('spec', 'drivers')
const NODE_ID_BYTES = 256

function topologyKeyErrors(keys: List<string>, at: FieldPath): Errors {
  const seen = new Set<string>()
  return (keys ?? []).flatMap((key) => {
    const errors = qualifiedName(key, at)
    if (key === '') errors.push(required(at))
    if (seen.has(key)) errors.push(duplicate(at, key))
    seen.add(key)
    return errors
  })
}

function validate(object: CSINode): Errors {
  const names = new Set<string>()
  return each(object.spec?.drivers, DRIVERS, ({ name = '', nodeID = '', topologyKeys, allocatable }, at) => {
    const errors = driverNameErrors(name, at.child('name'))
    if (nodeID === '') errors.push(required(at.child('nodeID')))
    if (Buffer.byteLength(nodeID) > NODE_ID_BYTES)
      errors.push(invalid(at.child('nodeID'), nodeID, `must be ${NODE_ID_BYTES} characters or less`))
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    return [
      ...errors,
      ...nonnegative(allocatable?.count, at.child('allocatable', 'count')),
      ...topologyKeyErrors(topologyKeys, at),
    ]
  })
}

const fixed = ({ allocatable: _, ...rest }: CSINodeDriver): Omit<CSINodeDriver, 'allocatable'> => rest

function changeErrors(object: CSINode, old: CSINode): Errors {
  const known = firstByName(old.spec?.drivers)
  return (object.spec?.drivers ?? []).flatMap((now) => {
    const before = known.get(now.name ?? '')
    return before === undefined ? [] : immutable(fixed(now), fixed(before), DRIVERS)
  })
}

export const csiNodeRules: ResourceRules<CSINode> = {
  returnDeletedObject: true,
  allowUnconditionalUpdate: false,
  validate,
  validateUpdate: (object, old) => [...validate(object), ...changeErrors(object, old)],
  status: { prepareForUpdate: keepMetadata },
  table: tableOf<CSINode>(
    text('Drivers', 'How many drivers the node has.', ({ spec }) => spec?.drivers?.length ?? 0, { type: 'integer' }),
    age(),
  ),
}
