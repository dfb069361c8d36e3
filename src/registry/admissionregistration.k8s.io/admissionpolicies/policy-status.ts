/** Thread: pool. What the checking of types found in the expressions of a policy. */

import { FieldPath } from '../../../api/field-error.js'
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyStatus,
} from '../../../api/generated/kinds/admissionregistration.v1.js'
import { type Errors, each, requiredBy } from '../../../api/validation/checks.js'
import { conditionErrors } from '../../../api/validation/conditions.js'
import type { UpdateRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'

const STATUS = FieldPath.of('status')

function errorsOf({ typeChecking, conditions }: ValidatingAdmissionPolicyStatus): Errors {
  const warnings = STATUS.child('typeChecking', 'expressionWarnings')
  return [
    ...each(typeChecking?.expressionWarnings, warnings, ({ fieldRef, warning }, at) => [
      ...requiredBy(warning, at.child('warning')),
      ...requiredBy(fieldRef?.trim(), at.child('fieldRef')),
    ]),
    ...conditionErrors(conditions, STATUS.child('conditions')),
  ]
}

export const policyStatusRules: UpdateRules<ValidatingAdmissionPolicy> = {
  resetFields: [['metadata'], ['spec']],
  prepareForUpdate: keepMetadata,
  validateUpdate: (object) => errorsOf(object.status ?? {}),
}
