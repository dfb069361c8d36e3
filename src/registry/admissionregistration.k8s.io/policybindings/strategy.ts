/** Thread: pool. Bindings of admission policies: where a policy is in force, and with which parameters. */

import { duplicate, FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  MutatingAdmissionPolicyBinding,
  ParamRef,
  ValidatingAdmissionPolicyBinding,
} from '../../../api/generated/kinds/admissionregistration.v1.js'
import {
  dnsSubdomain,
  type Errors,
  each,
  type List,
  optionalBy,
  pathSegment,
  requiredBy,
} from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { selectorStructText } from '../../generic/selector-text.js'
import { age, tableOf, text, UNSET } from '../../generic/table-rules.js'
import { choice, defaultMatchResources, matchResourcesErrors } from '../match-rules.js'

const SPEC = FieldPath.of('spec')
const ACTIONS = ['Audit', 'Deny', 'Warn']

function paramRefErrors({ name = '', selector, parameterNotFoundAction: action }: ParamRef): Errors {
  const path = SPEC.child('paramRef')
  const errors = optionalBy(name, path.child('name'), pathSegment)
  if (name !== '' && selector) errors.push(forbidden(path.child('name'), 'name and selector exclude each other'))
  if (name === '' && !selector) errors.push(required(path, 'one of name or selector must be specified'))
  errors.push(...labelSelectorErrors(selector, path.child('selector')))
  if (name !== '' && selector) errors.push(forbidden(path.child('selector'), 'name and selector exclude each other'))
  const at = path.child('parameterNotFoundAction')
  return [...errors, ...((action ?? '') === '' ? [required(at)] : choice(action, ['Allow', 'Deny'], at))]
}

function actionErrors(actions: List<string>): Errors {
  const path = SPEC.child('validationActions')
  if ((actions?.length ?? 0) === 0) return [required(path, 'at least one validation action is required')]
  const seen = new Set<string>()
  const errors = each(actions, path, (action, at) => {
    const found = ACTIONS.includes(action) ? [] : [notSupported(at, action, ACTIONS)]
    if (seen.has(action)) found.push(duplicate(at, action))
    seen.add(action)
    return found
  })
  if (seen.has('Deny') && seen.has('Warn'))
    errors.push(invalid(path, actions, 'must not contain both Deny and Warn: a denial says what a warning would'))
  return errors
}

function paramText({ spec }: ValidatingAdmissionPolicyBinding): string {
  const { name = '', namespace = '', selector } = spec?.paramRef ?? {}
  // Whether they are in namespaces at all is not known here.
  if (name !== '') return `${namespace === '' ? '*' : namespace}/${name}`
  return selector ? selectorStructText(selector) : UNSET
}

/** The binding of a validating policy has one field more: what is done when a check fails. */
const rulesOf = (mutating: boolean): ResourceRules<ValidatingAdmissionPolicyBinding> => ({
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  generationFields: ['spec'],
  setDefaults: (object) => {
    const match = object.spec?.matchResources
    if (match) defaultMatchResources(match)
  },
  validate: (object) => {
    const { spec = {} } = object
    return [
      ...requiredBy(spec.policyName, SPEC.child('policyName'), dnsSubdomain),
      ...(spec.paramRef ? paramRefErrors(spec.paramRef) : []),
      ...(spec.matchResources ? matchResourcesErrors(spec.matchResources, SPEC.child('matchResources'), mutating) : []),
      ...(mutating ? [] : actionErrors(spec.validationActions)),
    ]
  },
  table: tableOf<ValidatingAdmissionPolicyBinding>(
    text('PolicyName', 'The policy.', ({ spec }) => spec?.policyName ?? ''),
    text('ParamRef', 'Its parameters.', paramText),
    age(),
  ),
})

export const validatingAdmissionPolicyBindingRules = rulesOf(false)
export const mutatingAdmissionPolicyBindingRules: ResourceRules<MutatingAdmissionPolicyBinding> = rulesOf(true)
