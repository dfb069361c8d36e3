/** Thread: any. The conditions of a definition: found, compared, set as Kubernetes sets them. */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
} from '../../api/generated/kinds/apiextensions.v1.js'

export type ConditionType =
  | 'NamesAccepted'
  | 'Established'
  | 'NonStructuralSchema'
  | 'KubernetesAPIApprovalPolicyConformant'
  | 'Terminating'

export interface Condition {
  readonly type: ConditionType
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export function findCondition(
  { status }: CustomResourceDefinition,
  type: ConditionType,
): CustomResourceDefinitionCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

export const conditionIs = (
  definition: CustomResourceDefinition,
  type: ConditionType,
  status: Condition['status'],
): boolean => findCondition(definition, type)?.status === status

const isSame = (found: CustomResourceDefinitionCondition | undefined, wanted: Condition): boolean =>
  found !== undefined &&
  found.status === wanted.status &&
  (found.reason ?? '') === wanted.reason &&
  (found.message ?? '') === wanted.message

/** Sets a condition; false when it was so already. The time is that of the last change of its status. */
export function setCondition(definition: CustomResourceDefinition, wanted: Condition, time: string): boolean {
  const found = findCondition(definition, wanted.type)
  if (isSame(found, wanted)) return false
  definition.status ??= {}
  const conditions = definition.status.conditions ?? []
  const lastTransitionTime = found?.status === wanted.status ? (found.lastTransitionTime ?? time) : time
  const next = { ...wanted, lastTransitionTime }
  definition.status.conditions =
    found === undefined ? [...conditions, next] : conditions.map((one) => (one === found ? next : one))
  return true
}

/** False when there was none. */
export function removeCondition(definition: CustomResourceDefinition, type: ConditionType): boolean {
  const { status } = definition
  const left = (status?.conditions ?? []).filter((condition) => condition.type !== type)
  if (status === undefined || left.length === (status.conditions ?? []).length) return false
  status.conditions = left
  return true
}
