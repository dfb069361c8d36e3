/** Thread: pool. Admission policies, validating and mutating: rules written as expressions. */

import { findPatchType, JSON_PATCH, OBJECT } from '../../../admission/expressions/patch-types.js'
import { PolicyVariables } from '../../../admission/expressions/policy-variables.js'
import { RESERVED } from '../../../api/cel/names.js'
import { BOOL, listOf, NULL, STRING } from '../../../api/cel/types.js'
import { duplicate, FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
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
import { CheckedExpressions } from '../expression-errors.js'
import { choice, conditionErrors, defaultMatchResources, matchResourcesErrors } from '../match-rules.js'
import { policyStatusRules } from './policy-status.js'

type Policy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy

type Spec = NonNullable<Policy['spec']>

const SPEC = FieldPath.of('spec')
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const PATCHES = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

const MAX_ANNOTATIONS = 20
const MAX_ANNOTATION_BYTES = 5 * 1024
const APPLIED = [findPatchType(OBJECT)!]
const PATCHED = [listOf(JSON_PATCH)]

/** The expressions of a policy while it is checked: each variable can speak of those before it, all others of every one. */
class PolicyExpressions {
  readonly #spec: Spec
  readonly #known: ReadonlySet<string>
  readonly #variables = new PolicyVariables()

  constructor(spec: Spec, stored: Policy | undefined) {
    this.#spec = spec
    this.#known = new Set(stored === undefined ? [] : storedSources(stored))
  }

  of(names: { readonly authorizer?: boolean; readonly patches?: boolean } = {}): CheckedExpressions {
    const { type: variables } = this.#variables
    const params = Boolean(this.#spec.paramKind)
    return new CheckedExpressions({ params, authorizer: true, variables, ...names }, this.#known)
  }

  variable(name: string, source: string, path: FieldPath): Errors {
    const { error } = this.#variables.add(name, source, this.of().environment(source))
    return error === '' ? [] : [invalid(path, source, error)]
  }
}

/** Every expression of a policy, wherever it stands. */
function storedSources({ spec = {} }: Policy): string[] {
  const { validations, auditAnnotations } = spec as NonNullable<ValidatingAdmissionPolicy['spec']>
  const { mutations } = spec as NonNullable<MutatingAdmissionPolicy['spec']>
  return [
    ...(spec.variables ?? []).map(({ expression }) => expression),
    ...(validations ?? []).flatMap(({ expression, messageExpression }) => [expression, messageExpression]),
    ...(auditAnnotations ?? []).map(({ valueExpression }) => valueExpression),
    ...(mutations ?? []).flatMap(({ applyConfiguration, jsonPatch }) => [
      applyConfiguration?.expression,
      jsonPatch?.expression,
    ]),
  ].filter((source) => source !== undefined)
}

const isBlank = (text: string | undefined): boolean => (text ?? '').trim() === ''

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

function commonErrors(
  spec: Spec,
  mutating: boolean,
  expressions: PolicyExpressions,
  stored: Policy | undefined,
): Errors {
  const constraints = SPEC.child('matchConstraints')
  const match = spec.matchConstraints
  return [
    ...choice(spec.failurePolicy, ['Fail', 'Ignore'], SPEC.child('failurePolicy')),
    ...(spec.paramKind ? paramKindErrors(spec.paramKind) : []),
    ...(match ? matchResourcesErrors(match, constraints, mutating) : [required(constraints)]),
    ...(match && (match.resourceRules?.length ?? 0) === 0 ? [required(constraints.child('resourceRules'))] : []),
    ...conditionErrors(spec.matchConditions, SPEC.child('matchConditions'), {
      params: Boolean(spec.paramKind),
      stored: stored?.spec?.matchConditions,
    }),
    ...each(spec.variables, SPEC.child('variables'), ({ name = '', expression = '' }, at) => [
      ...variableNameErrors(name, at.child('name')),
      ...(isBlank(expression)
        ? [required(at.child('expression'), 'expression is not specified')]
        : expressions.variable(name, expression, at.child('expression'))),
    ]),
  ]
}

function variableNameErrors(name: string, path: FieldPath): Errors {
  if (name.trim() === '') return [required(path, 'name is not specified')]
  return IDENTIFIER.test(name) && !RESERVED.has(name) ? [] : [invalid(path, name, 'must be an identifier')]
}

function messageErrors(message: string, path: FieldPath): Errors {
  if (message === '') return []
  if (isBlank(message)) return [invalid(path, message, 'message must be non-empty if specified')]
  return /[\r\n]/.test(message.trim()) ? [invalid(path, message, 'message must not contain line breaks')] : []
}

function messageExpressionErrors(message: string, path: FieldPath, expressions: CheckedExpressions): Errors {
  if (message === '') return []
  if (isBlank(message)) return [invalid(path, message, 'must be non-empty if specified')]
  return expressions.errors(message, path, [STRING])
}

function validatingErrors(policy: ValidatingAdmissionPolicy, stored?: ValidatingAdmissionPolicy): Errors {
  const { spec = {} } = policy
  const expressions = new PolicyExpressions(spec, stored)
  const common = commonErrors(spec, false, expressions, stored)
  const nothing = (spec.validations?.length ?? 0) === 0 && (spec.auditAnnotations?.length ?? 0) === 0
  if (nothing) return [...common, required(SPEC.child('validations')), required(SPEC.child('auditAnnotations'))]
  const [checks, messages] = [expressions.of(), expressions.of({ authorizer: false })]
  return [
    ...common,
    ...each(spec.validations, SPEC.child('validations'), (validation, at) => [
      ...(isBlank(validation.expression)
        ? [required(at.child('expression'), 'expression is not specified')]
        : checks.errors(validation.expression!, at.child('expression'), [BOOL])),
      ...messageExpressionErrors(validation.messageExpression ?? '', at.child('messageExpression'), messages),
      ...messageErrors(validation.message ?? '', at.child('message')),
      ...choice(validation.reason, REASONS, at.child('reason')),
    ]),
    ...annotationErrors(policy, checks),
  ]
}

function annotationErrors({ spec = {}, metadata }: ValidatingAdmissionPolicy, expressions: CheckedExpressions): Errors {
  const path = SPEC.child('auditAnnotations')
  const keys = new Set<string>()
  const count = spec.auditAnnotations?.length ?? 0
  return [
    ...(count > MAX_ANNOTATIONS
      ? [invalid(path, spec.auditAnnotations, `must not have more than ${MAX_ANNOTATIONS} auditAnnotations`)]
      : []),
    ...each(spec.auditAnnotations, path, ({ key = '', valueExpression = '' }, at) => {
      const doubled = keys.has(key) ? [duplicate(at.child('key'), key)] : []
      keys.add(key)
      return [
        ...because(isQualifiedName(`${metadata?.name ?? ''}/${key}`), at.child('key'), key),
        ...doubled,
        ...annotationValueErrors(valueExpression, at.child('valueExpression'), expressions),
      ]
    }),
  ]
}

function annotationValueErrors(expression: string, path: FieldPath, expressions: CheckedExpressions): Errors {
  if (isBlank(expression)) return [required(path, 'valueExpression is not specified')]
  return Buffer.byteLength(expression.trim()) > MAX_ANNOTATION_BYTES
    ? [required(path, `must not exceed ${MAX_ANNOTATION_BYTES} bytes in length`)]
    : expressions.errors(expression, path, [STRING, NULL])
}

function mutationErrors(mutation: Mutation, at: FieldPath, expressions: CheckedExpressions): Errors {
  const { patchType = '' } = mutation
  if (patchType === '') return [required(at.child('patchType'))]
  if (!Object.hasOwn(PATCHES, patchType)) return [notSupported(at.child('patchType'), patchType, Object.keys(PATCHES))]
  const field = PATCHES[patchType as keyof typeof PATCHES]
  const other = field === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  const { expression = '' } = mutation[field] ?? {}
  const path = at.child(field, 'expression')
  return [
    ...(mutation[other] ? [invalid(at.child(other), `{${other}}`, `not when patchType is ${patchType}`)] : []),
    ...(mutation[field]
      ? isBlank(expression)
        ? [required(path)]
        : expressions.errors(expression, path, field === 'jsonPatch' ? PATCHED : APPLIED)
      : [required(at.child(field))]),
  ]
}

function mutatingErrors({ spec = {} }: MutatingAdmissionPolicy, stored?: MutatingAdmissionPolicy): Errors {
  const expressions = new PolicyExpressions(spec, stored)
  const common = commonErrors(spec, true, expressions, stored)
  const changes = expressions.of({ patches: true })
  return [
    ...common,
    ...oneOf(spec.reinvocationPolicy, ['IfNeeded', 'Never'], SPEC.child('reinvocationPolicy'), 'required'),
    ...((spec.mutations?.length ?? 0) === 0
      ? [required(SPEC.child('mutations'), 'mutations must contain at least one item')]
      : each(spec.mutations, SPEC.child('mutations'), (mutation, at) => mutationErrors(mutation, at, changes))),
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
  validate: (policy: K, stored?: K) => Errors,
  column: string,
  description: string,
  count: (policy: K) => number | undefined,
): ResourceRules<K> => ({
  allowUnconditionalUpdate: false,
  metadataOnUpdate: 'changes',
  generationFields: ['spec'],
  setDefaults,
  validate: (policy) => validate(policy),
  validateUpdate: (policy, old) => validate(policy, old),
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
