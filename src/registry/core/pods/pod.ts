/** Thread: any. The shape of a pod as far as its rules look at it. */
import type { KubeObject } from '../../../api/object.js'
import type { PodSpec } from '../pod-template/pod-spec.js'

export interface PodCondition {
  type?: string
  status?: string
  reason?: string
  message?: string
  lastProbeTime?: string | null
  lastTransitionTime?: string | null
  observedGeneration?: number
}

export interface ContainerState {
  waiting?: { reason?: string }
  running?: { startedAt?: string }
  terminated?: { exitCode?: number; signal?: number; reason?: string; finishedAt?: string | null }
}

export interface ContainerStatus {
  name?: string
  ready?: boolean
  started?: boolean
  restartCount?: number
  state?: ContainerState
  lastState?: ContainerState
  resources?: unknown
  user?: { linux?: { uid?: number; gid?: number; supplementalGroups?: number[] } }
}

export interface PodStatus {
  phase?: string
  reason?: string
  qosClass?: string
  conditions?: PodCondition[]
  podIP?: string
  podIPs?: { ip?: string }[]
  hostIP?: string
  hostIPs?: { ip?: string }[]
  nominatedNodeName?: string
  observedGeneration?: number
  containerStatuses?: ContainerStatus[]
  initContainerStatuses?: ContainerStatus[]
  ephemeralContainerStatuses?: ContainerStatus[]
  resourceClaimStatuses?: { name?: string; resourceClaimName?: string }[]
  extendedResourceClaimStatus?: unknown
}

export interface Pod extends KubeObject {
  spec?: PodSpec
  status?: PodStatus
}
