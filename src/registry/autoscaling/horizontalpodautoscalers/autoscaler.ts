/** Thread: any. What autoscalers of v2 and v1 have in common. */
import type { HorizontalPodAutoscaler as AutoscalerV1 } from '../../../api/generated/kinds/autoscaling.v1.js'
import type {
  HorizontalPodAutoscaler as AutoscalerV2,
  ContainerResourceMetricSource,
  ContainerResourceMetricStatus,
  ObjectMetricSource,
  ObjectMetricStatus,
} from '../../../api/generated/kinds/autoscaling.v2.js'

export const METRIC_FIELDS = ['object', 'external', 'pods', 'resource', 'containerResource'] as const
export type MetricField = (typeof METRIC_FIELDS)[number]
/** Any kind of metric: its fields are those of all kinds, of which each has some. */
export type MetricSource = ObjectMetricSource & ContainerResourceMetricSource
/** What the status says of a metric: `current` in the place of `target`. */
export type MetricSourceStatus = ObjectMetricStatus & ContainerResourceMetricStatus

export const DEFAULT_CPU_UTILIZATION = 80
export const isV1 = (autoscaler: AutoscalerV1 | AutoscalerV2): autoscaler is AutoscalerV1 =>
  autoscaler.apiVersion === 'autoscaling/v1'
