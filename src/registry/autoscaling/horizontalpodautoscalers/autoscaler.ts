/** Thread: any. The shapes of an autoscaler, in v2 and in v1. */
import type { KubeObject } from '../../../api/object.js'
import type { List } from '../../../api/validation/checks.js'

export interface ObjectReference {
  apiVersion?: string
  kind?: string
  name?: string
}

export interface MetricTarget {
  type?: string
  value?: string
  averageValue?: string
  averageUtilization?: number
}

export interface MetricIdentifier {
  name?: string
  selector?: object
}

/** One kind of metric: its fields are those of all kinds, of which each has some. */
export interface MetricSource {
  name?: string
  container?: string
  metric?: MetricIdentifier
  describedObject?: ObjectReference
  target?: MetricTarget
}

export const METRIC_FIELDS = ['object', 'external', 'pods', 'resource', 'containerResource'] as const
export type MetricField = (typeof METRIC_FIELDS)[number]
export type MetricSpec = { type?: string } & { [field in MetricField]?: MetricSource }

/** What the status says of a metric: `current` in the place of `target`. */
export type MetricStatus = { type?: string } & {
  [field in MetricField]?: {
    name?: string
    container?: string
    metric?: MetricIdentifier
    describedObject?: ObjectReference
    current?: MetricTarget
  }
}

export interface ScalingRules {
  stabilizationWindowSeconds?: number
  selectPolicy?: string
  tolerance?: string
  policies?: List<{ type?: string; value?: number; periodSeconds?: number }>
}

export interface Behavior {
  scaleUp?: ScalingRules
  scaleDown?: ScalingRules
}

export interface AutoscalerV2 extends KubeObject {
  spec?: {
    scaleTargetRef?: ObjectReference
    minReplicas?: number
    maxReplicas?: number
    metrics?: List<MetricSpec>
    behavior?: Behavior
  }
  status?: {
    observedGeneration?: number
    lastScaleTime?: string
    currentReplicas?: number
    desiredReplicas?: number
    currentMetrics?: List<MetricStatus>
    conditions?: List<{ observedGeneration?: number }>
  }
}

export interface AutoscalerV1 extends KubeObject {
  spec?: {
    scaleTargetRef?: ObjectReference
    minReplicas?: number
    maxReplicas?: number
    targetCPUUtilizationPercentage?: number
  }
  status?: {
    observedGeneration?: number
    lastScaleTime?: string
    currentReplicas?: number
    desiredReplicas?: number
    currentCPUUtilizationPercentage?: number
  }
}

export const DEFAULT_CPU_UTILIZATION = 80
export const isV1 = (object: KubeObject): boolean => object.apiVersion === 'autoscaling/v1'
