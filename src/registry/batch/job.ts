/** Thread: any. The shape of jobs as far as their rules look at it. */
import type { KubeObject } from '../../api/object.js'
import type { MutableLabelSelector, PodTemplateSpec } from '../core/pod-template/pod-spec.js'

export interface PodFailurePolicyRule {
  action?: string
  onExitCodes?: { containerName?: string; operator?: string; values?: number[] | null }
  onPodConditions?: { type?: string; status?: string }[] | null
}

export interface SuccessPolicyRule {
  succeededIndexes?: string
  succeededCount?: number
}

export interface JobSpec {
  parallelism?: number
  completions?: number
  activeDeadlineSeconds?: number
  podFailurePolicy?: { rules?: PodFailurePolicyRule[] | null }
  successPolicy?: { rules?: SuccessPolicyRule[] | null }
  backoffLimit?: number
  backoffLimitPerIndex?: number
  maxFailedIndexes?: number
  selector?: MutableLabelSelector
  manualSelector?: boolean
  template?: PodTemplateSpec
  ttlSecondsAfterFinished?: number
  completionMode?: string
  suspend?: boolean
  podReplacementPolicy?: string
  managedBy?: string
}

export interface JobStatus {
  active?: number
  ready?: number
  succeeded?: number
  failed?: number
  terminating?: number
  startTime?: string
  completionTime?: string
  completedIndexes?: string
  failedIndexes?: string
  uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] }
  conditions?: { type?: string; status?: string }[]
}

export interface Job extends KubeObject {
  spec?: JobSpec
  status?: JobStatus
}
