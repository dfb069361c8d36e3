/** Thread: pool. The conditions of a pod that the server itself sets. */
import type { PodCondition, PodStatus } from '../../../api/generated/kinds/core.v1.js'
import { formatTime } from '../../generic/system-fields.js'

export const conditionOf = (status: PodStatus | undefined, type: string): PodCondition | undefined =>
  (status?.conditions ?? []).find((condition) => condition.type === type)

/** Added or replaced; the time of the last transition stays when the status does. */
export function setPodCondition(status: PodStatus, condition: PodCondition, nowMs: number): void {
  const old = conditionOf(status, condition.type ?? '')
  const kept = old?.status === condition.status ? old?.lastTransitionTime : undefined
  const next: PodCondition = {
    ...condition,
    lastProbeTime: null,
    lastTransitionTime: kept === undefined ? formatTime(nowMs) : kept,
  }
  if (old === undefined) status.conditions = [...(status.conditions ?? []), next]
  else status.conditions = status.conditions!.map((one) => (one === old ? next : one))
}
