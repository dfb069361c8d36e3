/**
 * Thread: any. autoscaling/v1 and v2 are one object. What v1 has no field for, it carries in annotations as JSON, in v1's own
 * older form of metrics.
 */
import { BuiltinSchemas } from '../../../api/builtin-schema.js'
import { encodeText } from '../../../api/json/encode.js'
import type { JsonObject, KubeObject } from '../../../api/object.js'
import type { StructSchema } from '../../../api/schema.js'
import type { HubConversion } from '../../generic/resource-rules.js'
import {
  type AutoscalerV1,
  type AutoscalerV2,
  type Behavior,
  DEFAULT_CPU_UTILIZATION,
  METRIC_FIELDS,
  type MetricSource,
  type MetricSpec,
  type MetricStatus,
  type MetricTarget,
  type ObjectReference,
  type ScalingRules,
} from './autoscaler.js'

const PREFIX = 'autoscaling.alpha.kubernetes.io/'
const METRICS = `${PREFIX}metrics`
const BEHAVIOR = `${PREFIX}behavior`
const CONDITIONS = `${PREFIX}conditions`
const CURRENT_METRICS = `${PREFIX}current-metrics`
/** Dropped on the way in, never put in: tolerances stand in the behavior. */
const TOLERANCES = [`${PREFIX}scale-down-tolerance`, `${PREFIX}scale-up-tolerance`]
const ALL = [METRICS, BEHAVIOR, CONDITIONS, CURRENT_METRICS, ...TOLERANCES]

const V1 = 'io.k8s.api.autoscaling.v1'
/** The types of what the annotations hold; read when one is first printed. */
const schemas = new BuiltinSchemas()

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
  const printed = metric[`${side}Value`]
  // v1 prints the value of an object metric even when there is none.
  const isPadding = side === 'target' && averageValue !== undefined && metric.target !== undefined && printed === '0'
  const value = isPadding ? undefined : printed
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
    const value: unknown = JSON.parse(text)
    return value === null ? undefined : (value as T)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function readList(object: KubeObject, name: string): unknown[] | undefined {
  const list = readAnnotation<unknown>(object, name)
  return Array.isArray(list) ? list : undefined
}

/** As Go prints a list of v1's own types; undefined when it is empty. */
function printList(items: readonly unknown[], type: string): string | undefined {
  if (items.length === 0) return undefined
  const schema = schemas.definition(`${V1}.${type}`) as StructSchema
  return `[${items.map((item) => encodeText(item as JsonObject, schema)).join(',')}]`
}

/** The behavior is printed as a type without JSON names: the fields stand under those of Go. */
const RULE_NAMES = ['StabilizationWindowSeconds', 'SelectPolicy', 'Policies', 'Tolerance'] as const
const POLICY_NAMES = ['Type', 'Value', 'PeriodSeconds'] as const

const lower = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

function goObject(names: readonly string[], value: object, map: (name: string, item: unknown) => unknown): object {
  const source = value as Record<string, unknown>
  return Object.fromEntries(names.map((name) => [name, map(name, source[lower(name)]) ?? null]))
}

function printRules(rules: ScalingRules | undefined): object | null {
  if (!rules) return null
  const policies = (items: unknown): unknown =>
    Array.isArray(items) ? items.map((item: object) => goObject(POLICY_NAMES, item, (_, part) => part)) : null
  return goObject(RULE_NAMES, rules, (name, part) => (name === 'Policies' ? policies(part) : part))
}

function printBehavior(behavior: Behavior | undefined): string | undefined {
  if (!behavior) return undefined
  return JSON.stringify({ ScaleUp: printRules(behavior.scaleUp), ScaleDown: printRules(behavior.scaleDown) })
}

/** Names in whatever case, as Go reads them. */
function readBehavior(object: KubeObject): Behavior | undefined {
  const found = readAnnotation<unknown>(object, BEHAVIOR)
  const behavior = lowered(found) as Behavior
  if (typeof found !== 'object' || Array.isArray(found) || (!behavior.scaleUp && !behavior.scaleDown)) return undefined
  return behavior
}

function lowered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowered)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, item]) => item !== null)
  return Object.fromEntries(kept.map(([name, item]) => [lower(name), lowered(item)]))
}

type Annotations = Record<string, string>

function withAnnotations(object: KubeObject, added: Readonly<Record<string, string | undefined>>): KubeObject {
  const kept = Object.entries(object.metadata?.annotations ?? {}).filter(([name]) => !ALL.includes(name))
  const more = Object.entries(added).filter(([, value]) => value !== undefined)
  const metadata = { ...object.metadata }
  delete metadata.annotations
  if (kept.length + more.length > 0) metadata.annotations = Object.fromEntries([...kept, ...more]) as Annotations
  return { ...object, metadata }
}

export function v1ToV2(object: AutoscalerV1): AutoscalerV2 {
  const { targetCPUUtilizationPercentage: target, ...spec } = object.spec ?? {}
  const { currentCPUUtilizationPercentage: current, ...status } = object.status ?? {}
  const metrics = convertMetrics(readList(object, METRICS) ?? [], 'target', false) as MetricSpec[]
  if (target !== undefined) metrics.push(cpuMetric(target))
  if (metrics.length === 0) metrics.push(cpuMetric(DEFAULT_CPU_UTILIZATION))
  const conditions = readList(object, CONDITIONS) as { observedGeneration?: number }[] | undefined
  return {
    ...withAnnotations(object, {}),
    apiVersion: 'autoscaling/v2',
    spec: given({ ...spec, metrics, behavior: readBehavior(object) }) as NonNullable<AutoscalerV2['spec']>,
    status: given({
      ...status,
      currentMetrics: currentMetricsOf(object, current),
      conditions,
    }) as NonNullable<AutoscalerV2['status']>,
  }
}

/** The annotation says more than the field, so the field counts only without it. */
function currentMetricsOf(object: KubeObject, utilization: number | undefined): MetricStatus[] | undefined {
  const saved = readList(object, CURRENT_METRICS)
  if (saved !== undefined) return convertMetrics(saved, 'current', false) as MetricStatus[]
  if (utilization === undefined) return undefined
  return [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: utilization } } }]
}

export function v2ToV1(object: AutoscalerV2): AutoscalerV1 {
  const { metrics, behavior, ...spec } = object.spec ?? {}
  const { currentMetrics, conditions, ...status } = object.status ?? {}
  const cpu = (metrics ?? []).find(isCpuUtilization)
  const others = (metrics ?? []).filter((metric) => !isCpuUtilization(metric))
  const isCpu = ({ type, resource }: MetricStatus): boolean =>
    type === 'Resource' && resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined
  return {
    ...withAnnotations(object, {
      [METRICS]: printList(convertMetrics(others, 'target', true), 'MetricSpec'),
      [CURRENT_METRICS]: printList(convertMetrics(currentMetrics ?? [], 'current', true), 'MetricStatus'),
      [CONDITIONS]: printList(conditions ?? [], 'HorizontalPodAutoscalerCondition'),
      [BEHAVIOR]: printBehavior(behavior),
    }),
    apiVersion: 'autoscaling/v1',
    spec: given({ ...spec, targetCPUUtilizationPercentage: cpu?.resource?.target?.averageUtilization }) as NonNullable<
      AutoscalerV1['spec']
    >,
    status: given({
      ...status,
      currentCPUUtilizationPercentage: (currentMetrics ?? []).findLast(isCpu)?.resource?.current?.averageUtilization,
    }) as NonNullable<AutoscalerV1['status']>,
  }
}

export const autoscalingV1: HubConversion = { toHub: v1ToV2, fromHub: v2ToV1 }
