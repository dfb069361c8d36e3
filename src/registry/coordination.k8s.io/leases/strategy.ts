/** Thread: pool. Leases: who holds what, and until when. */

import { FieldPath, forbidden, invalid } from '../../../api/field-error.js'
import type { Lease } from '../../../api/generated/kinds/coordination.v1.js'
import { because, type Errors } from '../../../api/validation/checks.js'
import { isQualifiedName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')

function validate(object: Lease): Errors {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions } = object.spec ?? {}
  const { strategy, preferredHolder = '' } = object.spec ?? {}
  const errors: Errors = []
  if (duration !== undefined && duration <= 0)
    errors.push(invalid(SPEC.child('leaseDurationSeconds'), duration, 'must be greater than 0'))
  if (transitions !== undefined && transitions < 0)
    errors.push(invalid(SPEC.child('leaseTransitions'), transitions, 'must be greater than or equal to 0'))
  if (strategy !== undefined && strategy !== 'OldestEmulationVersion')
    errors.push(...because(isQualifiedName(strategy).slice(0, 1), SPEC.child('strategy'), strategy))
  if (preferredHolder !== '' && (strategy ?? '') === '')
    errors.push(forbidden(SPEC.child('preferredHolder'), 'needs `strategy`'))
  return errors
}

/** The gate of coordinated leader election is closed by default: what it adds is only kept where it already is. */
function dropGated(object: Lease, old?: Lease): void {
  const { spec } = object
  const before = old?.spec
  for (const field of ['strategy', 'preferredHolder'] as const)
    if (spec !== undefined && before?.[field] === undefined) delete spec[field]
}

export const leaseRules: ResourceRules<Lease> = {
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  prepareForCreate: (object) => dropGated(object),
  prepareForUpdate: (object, old) => dropGated(object, old),
  validate,
  table: tableOf<Lease>(
    text('Holder', 'Who holds it.', ({ spec }) => spec?.holderIdentity ?? ''),
    age(),
  ),
}
