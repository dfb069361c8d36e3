/**
 * Thread: any. autoscaling/v1 and v2 are one object. What v1 has no field for, it carries in annotations as JSON, in v1's own
 * older form of metrics.
 */
import type { KubeObject } from '../../../api/object.js'
import {
  type AutoscalerV1,
  type AutoscalerV2,
  type Behavior,
  METRIC_FIELDS,
  type MetricSource,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
  type ObjectReference,
} from './autoscaler.js'

const PREFIX = 'autoscaling.alpha.kubernetes.io/'
const METRICS = `${PREFIX}metrics`
const BEHAVIOR = `${PREFIX}behavior`
const CONDITIONS = `${PREFIX}conditions`
const CURRENT_METRICS = `${PREFIX}current-metrics`
const ALL = [METRICS, BEHAVIOR, CONDITIONS, CURRENT_METRICS]

/** A metric of v1: target and current values stand beside its name. */
interface MetricV1 {
  name?: string
  container?: string
  metricName?: string
  selector?: object
  metricSelector?: object
  target?: ObjectReference
  targetValue?: string
  averageValue?: string
  targetAverageValue?: string
  targetAverageUtilization?: number
  currentValue?: string
  currentAverageValue?: string
  currentAverageUtilization?: number
}

/** Without what is undefined, so that nothing is printed that nobody said. */
const given = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T

const cpuMetric = (percentage: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percentage } },
})

const isCpuUtilization = ({ type, resource }: MetricSpec): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined

function targetFromV1(metric: MetricV1, side: 'target' | 'current'): MetricTarget {
  const averageValue = metric[`${side}AverageValue`] ?? metric.averageValue
  const averageUtilization = metric[`${side}AverageUtilization`]
  const value = metric[`${side}Value`]
  const type = averageUtilization !== undefined ? 'Utilization' : averageValue !== undefined ? 'AverageValue' : 'Value'
  return given({ ...(side === 'target' ? { type } : {}), value, averageValue, averageUtilization }) as MetricTarget
}

function sourceFromV1(metric: MetricV1, side: 'target' | 'current'): MetricSource {
  const id = { name: metric.metricName, selector: metric.metricSelector ?? metric.selector }
  return given({
    name: metric.name,
    container: metric.container,
    metric: metric.metricName === undefined ? undefined : given(id),
    describedObject: metric.target,
    [side]: targetFromV1(metric, side),
  }) as MetricSource
}

function sourceToV1(
  field: string,
  source: MetricSource & { current?: MetricTarget },
  side: 'target' | 'current',
): MetricV1 {
  const amount = source[side] ?? {}
  const selector = source.metric?.selector
  return given({
    name: source.name,
    container: source.container,
    metricName: source.metric?.name,
    ...(field === 'external' ? { metricSelector: selector } : { selector }),
    target: source.describedObject,
    [`${side}Value`]: amount.value,
    ...(field === 'object' ? { averageValue: amount.averageValue } : { [`${side}AverageValue`]: amount.averageValue }),
    [`${side}AverageUtilization`]: amount.averageUtilization,
  }) as MetricV1
}

type Converted = { type?: string } & Record<string, unknown>

function convertMetrics(metrics: readonly unknown[], side: 'target' | 'current', toV1: boolean): Converted[] {
  return metrics.map((metric) => {
    const { type } = metric as { type?: string }
    const result: Converted = type === undefined ? {} : { type }
    for (const field of METRIC_FIELDS) {
      const source = (metric as Record<string, unknown>)[field]
      if (!source) continue
      result[field] = toV1 ? sourceToV1(field, source as MetricSource, side) : sourceFromV1(source as MetricV1, side)
    }
    return result
  })
}

/** Undefined when the annotation is absent or no JSON: what nobody can read says nothing. */
function readAnnotation<T>(object: KubeObject, name: string): T | undefined {
  const text = object.metadata?.annotations?.[name]
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function withAnnotations(object: KubeObject, added: Readonly<Record<string, unknown>>): KubeObject {
  const kept = Object.entries(object.metadata?.annotations ?? {}).filter(([name]) => !ALL.includes(name))
  const more = Object.entries(added).filter(([, value]) => value !== undefined)
  const annotations = Object.fromEntries([
    ...kept,
    ...more.map(([name, value]) => [name, JSON.stringify(value)] as const),
  ])
  const metadata = { ...object.metadata }
  if (Object.keys(annotations).length > 0 || object.metadata?.annotations !== undefined)
    metadata.annotations = annotations
  return { ...object, metadata }
}

export function v1ToV2(object: AutoscalerV1): AutoscalerV2 {
  const { targetCPUUtilizationPercentage: target, ...spec } = object.spec ?? {}
  const { currentCPUUtilizationPercentage: current, ...status } = object.status ?? {}
  const metrics = convertMetrics(readAnnotation<unknown[]>(object, METRICS) ?? [], 'target', false) as MetricSpec[]
  if (target !== undefined) metrics.push(cpuMetric(target))
  const currentMetrics = convertMetrics(readAnnotation<unknown[]>(object, CURRENT_METRICS) ?? [], 'current', false)
  if (current !== undefined)
    currentMetrics.push({ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } })
  const behavior = readAnnotation<Behavior>(object, BEHAVIOR)
  const conditions = readAnnotation<{ observedGeneration?: number }[]>(object, CONDITIONS)
  return {
    ...withAnnotations(object, {}),
    apiVersion: 'autoscaling/v2',
    spec: given({ ...spec, metrics: metrics.length > 0 ? metrics : undefined, behavior }) as NonNullable<
      AutoscalerV2['spec']
    >,
    status: given({
      ...status,
      currentMetrics: currentMetrics.length > 0 ? (currentMetrics as MetricStatus[]) : undefined,
      conditions,
    }) as NonNullable<AutoscalerV2['status']>,
  }
}

export function v2ToV1(object: AutoscalerV2): AutoscalerV1 {
  const { metrics, behavior, ...spec } = object.spec ?? {}
  const { currentMetrics, conditions, ...status } = object.status ?? {}
  const cpu = (metrics ?? []).find(isCpuUtilization)
  const others = (metrics ?? []).filter((metric) => metric !== cpu)
  const isCpu = ({ resource }: MetricStatus): boolean =>
    resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined
  const currentCpu = (currentMetrics ?? []).find(isCpu)
  const otherCurrent = (currentMetrics ?? []).filter((metric) => metric !== currentCpu)
  return {
    ...withAnnotations(object, {
      [METRICS]: others.length > 0 ? convertMetrics(others, 'target', true) : undefined,
      [CURRENT_METRICS]: otherCurrent.length > 0 ? convertMetrics(otherCurrent, 'current', true) : undefined,
      [CONDITIONS]: (conditions?.length ?? 0) > 0 ? conditions : undefined,
      [BEHAVIOR]: behavior,
    }),
    apiVersion: 'autoscaling/v1',
    spec: given({ ...spec, targetCPUUtilizationPercentage: cpu?.resource?.target?.averageUtilization }) as NonNullable<
      AutoscalerV1['spec']
    >,
    status: given({
      ...status,
      currentCPUUtilizationPercentage: currentCpu?.resource?.current?.averageUtilization,
    }) as NonNullable<AutoscalerV1['status']>,
  }
}
