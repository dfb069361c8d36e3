/**
 * Thread: any. What is wrong with the expressions of a ValidatingAdmissionPolicy when `object`, `oldObject` and `params` are of the
 * kinds that the policy matches. Expressions are evaluated without those types; what is found here is a warning in the
 * policy's status.
 */
import { compile } from '../../api/cel/program.js'
import type { CelType } from '../../api/cel/types.js'
import type {
  NamedRuleWithOperations,
  ValidatingAdmissionPolicy,
} from '../../api/generated/kinds/admissionregistration.v1.js'
import { formatGroupVersion, type GroupVersionKind, type GroupVersionResource } from '../../api/group-version.js'
import { admissionEnvironment } from './admission-environment.js'
import { PolicyVariables } from './policy-variables.js'

/** The most kinds that a rule is checked for. */
const MAX_KINDS = 10

export interface TypedKind {
  readonly kind: GroupVersionKind
  /** Undefined: nothing is known of the type. */
  readonly type: CelType | undefined
}

export interface ExpressionWarning {
  readonly fieldRef: string
  readonly warning: string
}

/** The resources that the rules of a policy name one by one, in order. Of stars and subresources no types are known. */
export function namedResources({ spec }: ValidatingAdmissionPolicy): GroupVersionResource[] {
  return (spec?.matchConstraints?.resourceRules ?? []).flatMap((rule) => resourcesOf(rule).slice(0, MAX_KINDS))
}

function resourcesOf({ apiGroups, apiVersions, resources }: NamedRuleWithOperations): GroupVersionResource[] {
  const groups = apiGroups ?? []
  const versions = apiVersions ?? []
  if ([...groups, ...versions].some((name) => name.includes('*'))) return []
  const plain = (resources ?? []).filter((name) => !name.includes('*') && !name.includes('/'))
  return groups
    .toSorted()
    .flatMap((group) =>
      versions.toSorted().flatMap((version) => plain.toSorted().map((resource) => ({ group, version, resource }))),
    )
}

/** `params` is the type of the policy's paramKind, when it has one and its type is known. */
export function typeWarnings(
  policy: ValidatingAdmissionPolicy,
  kinds: readonly TypedKind[],
  params: CelType | undefined,
): ExpressionWarning[] {
  const environments = kinds.map((typed) => ({ ...typed, environment: environmentFor(policy, typed.type, params) }))
  const check = (source: string, fieldRef: string): ExpressionWarning[] => {
    const issues = environments.flatMap(({ kind, environment }) => {
      const { errors } = compile(source, environment)
      return errors === undefined ? [] : [`${formatGroupVersion(kind)}, Kind=${kind.kind}: ${errors}\n`]
    })
    return issues.length === 0 ? [] : [{ fieldRef, warning: issues.join('\n') }]
  }
  return (policy.spec?.validations ?? []).flatMap(({ expression = '', messageExpression = '' }, i) => [
    ...check(expression, `spec.validations[${i}].expression`),
    ...(messageExpression === '' ? [] : check(messageExpression, `spec.validations[${i}].messageExpression`)),
  ])
}

function environmentFor(
  { spec = {} }: ValidatingAdmissionPolicy,
  object: CelType | undefined,
  params: CelType | undefined,
) {
  const variables = new PolicyVariables()
  const environment = admissionEnvironment('stored', {
    params: Boolean(spec.paramKind),
    authorizer: true,
    variables: variables.type,
    ...(object === undefined ? {} : { object }),
    ...(params === undefined ? {} : { paramsType: params }),
  })
  for (const { name = '', expression = '' } of spec.variables ?? []) variables.add(name, expression, environment)
  return environment
}
