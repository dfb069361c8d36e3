/**
 * Thread: any. What must become of a stored role or binding so that it has what it should have from the start: what is
 * missing is added, what somebody added stays, and one whose autoupdate annotation is "false" is left alone.
 */
import { isDeepStrictEqual } from 'node:util'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import { policyRulesOf } from '../policy-rule.js'
import { uncoveredRules } from '../rule-coverage.js'
import { AUTOUPDATE_ANNOTATION, type BindingObject, type RoleObject, type SubjectObject } from './policy-text.js'

/** `recreate`: the role of a binding cannot change, so the binding is deleted and made again. */
export type Reconciled<T> =
  | { readonly action: 'none' }
  | { readonly action: 'protected' }
  | { readonly action: 'create' | 'update' | 'recreate'; readonly object: T }

export function reconcileRole(expected: RoleObject, existing: RoleObject | undefined): Reconciled<RoleObject> {
  if (existing === undefined) return { action: 'create', object: expected }
  const object = withMetadata(expected, existing)
  if (expected.aggregationRule === undefined) {
    const missing = uncoveredRules(policyRulesOf(existing.rules), policyRulesOf(expected.rules))
    // Whole rules of the policy are added, also when only a part of one is missing.
    const wanted = (expected.rules ?? []).filter((rule) =>
      missing.some((one) => uncoveredRules(policyRulesOf([rule]), [one]).length === 0),
    )
    if (wanted.length > 0) object.rules = [...(existing.rules ?? []), ...wanted]
  } else {
    const selectors = existing.aggregationRule?.clusterRoleSelectors ?? []
    const missing = expected.aggregationRule.clusterRoleSelectors.filter(
      (wanted) => !selectors.some((selector) => isDeepStrictEqual({ ...selector }, { ...wanted })),
    )
    if (missing.length > 0) object.aggregationRule = { clusterRoleSelectors: [...selectors, ...missing] }
  }
  return outcome(existing, object)
}

export function reconcileBinding(
  expected: BindingObject,
  existing: BindingObject | undefined,
): Reconciled<BindingObject> {
  if (existing === undefined) return { action: 'create', object: expected }
  const object = withMetadata(expected, existing)
  const { kind, name } = existing.roleRef
  if (kind !== expected.roleRef.kind || name !== expected.roleRef.name) {
    if (isProtected(existing)) return { action: 'protected' }
    return { action: 'recreate', object: { ...expected, subjects: existing.subjects ?? expected.subjects ?? [] } }
  }
  const present = new Set((existing.subjects ?? []).map(subjectKey))
  const missing = (expected.subjects ?? []).filter((subject) => !present.has(subjectKey(subject)))
  if (missing.length > 0) object.subjects = [...(existing.subjects ?? []), ...missing]
  return outcome(existing, object)
}

const subjectKey = ({ kind, name, namespace = '', apiGroup = '' }: SubjectObject): string =>
  `${kind}/${apiGroup}/${namespace}/${name}`

const isProtected = (object: KubeObject): boolean => metadataOf(object).annotations?.[AUTOUPDATE_ANNOTATION] === 'false'

/** Adds labels and annotations; those that are there keep their values. */
function withMetadata<T extends KubeObject>(expected: T, existing: T): T {
  const [wanted, have] = [metadataOf(expected), metadataOf(existing)]
  return {
    ...existing,
    metadata: {
      ...have,
      labels: { ...wanted.labels, ...have.labels },
      annotations: { ...wanted.annotations, ...have.annotations },
    },
  }
}

function outcome<T extends KubeObject>(existing: T, object: T): Reconciled<T> {
  if (same(existing, object)) return { action: 'none' }
  return isProtected(existing) ? { action: 'protected' } : { action: 'update', object }
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}
