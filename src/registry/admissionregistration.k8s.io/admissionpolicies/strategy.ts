/** Thread: pool. Admission policies, validating and mutating: rules written as expressions. */

import { type AdmissionNames, admissionEnvironment } from '../../../api/cel/admission-environment.js'
import { type CelEnvironment, checkExpression } from '../../../api/cel/checker.js'
import { expressionErrors } from '../../../api/cel/expression-errors.js'
import { BOOL, type CelType, STRING, scalar } from '../../../api/cel/types.js'
import { duplicate, FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  MutatingAdmissionPolicy,
  Mutation,
  ParamKind,
  ValidatingAdmissionPolicy,
} from '../../../api/generated/kinds/admissionregistration.v1.js'
import { parseGroupVersion } from '../../../api/group-version.js'
import { because, type Errors, each, oneOf } from '../../../api/validation/checks.js'
import { isDns1035Label, isDns1123Subdomain, isQualifiedName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text, UNSET } from '../../generic/table-rules.js'
import { choice, conditionErrors, defaultMatchResources, matchResourcesErrors } from '../match-rules.js'
import { policyStatusRules } from './policy-status.js'

type Policy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy

type Spec = NonNullable<Policy['spec']>

const SPEC = FieldPath.of('spec')
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']
const PATCHES = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

const NULL = scalar('null')
const MAX_ANNOTATION_BYTES = 5 * 1024

function expression(
  value: string | undefined,
  path: FieldPath,
  environment: CelEnvironment,
  wanted?: readonly CelType[],
): Errors {
  const text = value ?? ''
  return text.trim() === ''
    ? [required(path, 'expression is not specified')]
    : expressionErrors(text, path, environment, wanted)
}

/** Each variable can speak of those before it. One that says nothing is not there; one that is wrong may be anything. */
function variableTypes({ variables, paramKind }: Spec): Map<string, CelType> {
  const types = new Map<string, CelType>()
  for (const { name = '', expression: text = '' } of variables ?? []) {
    if (name === '' || text.trim() === '') continue
    const environment = admissionEnvironment({
      params: Boolean(paramKind),
      authorizer: true,
      variables: new Map(types),
    })
    types.set(name, checkExpression(text, environment).type)
  }
  return types
}

const environmentOf = (spec: Spec, more: Partial<AdmissionNames> = {}): CelEnvironment =>
  admissionEnvironment({ params: Boolean(spec.paramKind), authorizer: true, variables: variableTypes(spec), ...more })

/** Those before the i-th variable. */
const environmentBefore = (spec: Spec, i: number): CelEnvironment =>
  environmentOf({ ...spec, variables: (spec.variables ?? []).slice(0, i) })

function paramKindErrors({ apiVersion = '', kind = '' }: ParamKind): Errors {
  const path = SPEC.child('paramKind')
  const errors: Errors = []
  const parsed = apiVersion === '' ? undefined : parseGroupVersion(apiVersion)
  if (apiVersion === '') errors.push(required(path.child('apiVersion')))
  else if (parsed === undefined) errors.push(invalid(path.child('apiVersion'), apiVersion, 'is no group and version'))
  else {
    if (parsed.group !== '')
      errors.push(...because(isDns1123Subdomain(parsed.group), path.child('apiVersion'), apiVersion))
    errors.push(...because(isDns1035Label(parsed.version), path.child('apiVersion'), apiVersion))
  }
  if (kind === '') errors.push(required(path.child('kind')))
  else errors.push(...because(isDns1035Label(kind.toLowerCase()), path.child('kind'), kind))
  return errors
}

function commonErrors(spec: Spec, mutating: boolean): Errors {
  const constraints = SPEC.child('matchConstraints')
  const match = spec.matchConstraints
  return [
    ...choice(spec.failurePolicy, ['Fail', 'Ignore'], SPEC.child('failurePolicy')),
    ...(spec.paramKind ? paramKindErrors(spec.paramKind) : []),
    ...(match ? matchResourcesErrors(match, constraints, mutating) : [required(constraints)]),
    ...(match && (match.resourceRules?.length ?? 0) === 0 ? [required(constraints.child('resourceRules'))] : []),
    ...conditionErrors(spec.matchConditions, SPEC.child('matchConditions'), Boolean(spec.paramKind)),
    ...each(spec.variables, SPEC.child('variables'), (variable, at, i) => {
      const { name = '' } = variable
      const named = IDENTIFIER.test(name) ? [] : [invalid(at.child('name'), name, 'must be an identifier')]
      return [
        ...(name === '' ? [required(at.child('name'), 'name is not specified')] : named),
        ...expression(variable.expression, at.child('expression'), environmentBefore(spec, i)),
      ]
    }),
  ]
}

function messageErrors(message: string, path: FieldPath): Errors {
  if (message === '') return []
  if (message.trim() === '') return [invalid(path, message, 'message must be non-empty if specified')]
  return /[\r\n]/.test(message) ? [invalid(path, message, 'message must not contain line breaks')] : []
}

function messageExpressionErrors(message: string, path: FieldPath, spec: Spec): Errors {
  if (message === '') return []
  if (message.trim() === '') return [invalid(path, message, 'must be non-empty if specified')]
  return expressionErrors(message, path, environmentOf(spec, { authorizer: false }), [STRING])
}

function validatingErrors({ spec = {}, metadata }: ValidatingAdmissionPolicy): Errors {
  const keys = new Set<string>()
  const environment = environmentOf(spec)
  const nothing = (spec.validations?.length ?? 0) === 0 && (spec.auditAnnotations?.length ?? 0) === 0
  return [
    ...commonErrors(spec, false),
    ...(nothing ? [required(SPEC.child('validations')), required(SPEC.child('auditAnnotations'))] : []),
    ...each(spec.validations, SPEC.child('validations'), (validation, at) => [
      ...expression(validation.expression, at.child('expression'), environment, [BOOL]),
      ...messageExpressionErrors(validation.messageExpression ?? '', at.child('messageExpression'), spec),
      ...messageErrors(validation.message ?? '', at.child('message')),
      ...choice(validation.reason, REASONS, at.child('reason')),
    ]),
    ...each(spec.auditAnnotations, SPEC.child('auditAnnotations'), ({ key = '', valueExpression }, at) => {
      const doubled = keys.has(key) && key !== '' ? [duplicate(at.child('key'), key)] : []
      keys.add(key)
      return [
        ...because(isQualifiedName(`${metadata?.name ?? ''}/${key}`), at.child('key'), key),
        ...doubled,
        ...(Buffer.byteLength((valueExpression ?? '').trim()) > MAX_ANNOTATION_BYTES
          ? [required(at.child('valueExpression'), `must not exceed ${MAX_ANNOTATION_BYTES} bytes in length`)]
          : expression(valueExpression, at.child('valueExpression'), environment, [STRING, NULL])),
      ]
    }),
  ]
}

function mutationErrors(mutation: Mutation, at: FieldPath, environment: CelEnvironment): Errors {
  const { patchType = '' } = mutation
  if (patchType === '') return [required(at.child('patchType'))]
  if (!Object.hasOwn(PATCHES, patchType)) return [notSupported(at.child('patchType'), patchType, Object.keys(PATCHES))]
  const field = PATCHES[patchType as keyof typeof PATCHES]
  const other = field === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  return [
    ...(mutation[other] ? [forbidden(at.child(other), `not when patchType is ${patchType}`)] : []),
    ...(mutation[field]
      ? expression(mutation[field].expression, at.child(field, 'expression'), environment)
      : [required(at.child(field))]),
  ]
}

function mutatingErrors({ spec = {} }: MutatingAdmissionPolicy): Errors {
  const environment = environmentOf(spec, { patches: true })
  return [
    ...commonErrors(spec, true),
    ...oneOf(spec.reinvocationPolicy, ['IfNeeded', 'Never'], SPEC.child('reinvocationPolicy'), 'required'),
    ...((spec.mutations?.length ?? 0) === 0
      ? [required(SPEC.child('mutations'), 'mutations must contain at least one item')]
      : each(spec.mutations, SPEC.child('mutations'), (mutation, at) => mutationErrors(mutation, at, environment))),
  ]
}

const kindText = ({ spec }: Policy): string =>
  spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : UNSET

function setDefaults(policy: Policy): void {
  policy.spec ??= {}
  policy.spec.failurePolicy ??= 'Fail'
  if (policy.spec.matchConstraints) defaultMatchResources(policy.spec.matchConstraints)
}

const rulesOf = <K extends Policy>(
  validate: (policy: K) => Errors,
  column: string,
  description: string,
  count: (policy: K) => number | undefined,
): ResourceRules<K> => ({
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  generationFields: ['spec'],
  setDefaults,
  validate,
  table: tableOf<K>(
    text(column, description, (policy) => count(policy) ?? 0, { type: 'integer' }),
    text('ParamKind', 'What its parameters are.', kindText),
    age(),
  ),
})

export const validatingAdmissionPolicyRules: ResourceRules<ValidatingAdmissionPolicy> = {
  ...rulesOf<ValidatingAdmissionPolicy>(
    validatingErrors,
    'Validations',
    'How many checks it makes.',
    ({ spec }) => spec?.validations?.length,
  ),
  status: policyStatusRules,
}
export const mutatingAdmissionPolicyRules = rulesOf<MutatingAdmissionPolicy>(
  mutatingErrors,
  'Mutations',
  'How many changes it makes.',
  ({ spec }) => spec?.mutations?.length,
)
