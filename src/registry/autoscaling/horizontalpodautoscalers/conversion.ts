/**
 * Thread: any. autoscaling/v1 and v2 are one object. What v1 has no field for, it carries in annotations as JSON, in v1's own
 * older form of metrics.
 */

import { BuiltinSchemas } from '../../../api/builtin-schema.js'
import type * as v1 from '../../../api/generated/kinds/autoscaling.v1.js'
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
} from '../../../api/generated/kinds/autoscaling.v2.js'
import { decodeTree } from '../../../api/json/decode.js'
import { DecodeError } from '../../../api/json/decode-error.js'
import { encodeText } from '../../../api/json/encode.js'
import { parseJson } from '../../../api/json/parse.js'
import { JsonSyntaxError } from '../../../api/json/syntax-error.js'
import { isJsonObject, type Json, type KubeObject } from '../../../api/object.js'
import type { StructSchema } from '../../../api/schema.js'
import { assert } from '../../../lib/assert.js'
import type { VersionConversion } from '../../generic/resource-rules.js'
import {
  DEFAULT_CPU_UTILIZATION,
  METRIC_FIELDS,
  type MetricField,
  type MetricSource,
  type MetricSourceStatus,
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
const V2 = 'io.k8s.api.autoscaling.v2'
/** The types of what the annotations hold; read when one is first printed. */
const schemas = new BuiltinSchemas()

/** Any metric of v1, of the spec or of the status: target and current values stand beside its name. */
type MetricV1 = v1.ObjectMetricSource &
  v1.ObjectMetricStatus &
  v1.PodsMetricSource &
  v1.PodsMetricStatus &
  v1.ExternalMetricSource &
  v1.ExternalMetricStatus &
  v1.ContainerResourceMetricSource &
  v1.ContainerResourceMetricStatus

type Side = 'target' | 'current'
type MetricV2 = MetricSource & MetricSourceStatus

/** Without what is undefined, so that nothing is printed that nobody said. */
function given<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T
}

const cpuMetric = (percentage: number): MetricSpec => ({
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: percentage } },
})

const isCpuUtilization = ({ type, resource }: MetricSpec): boolean =>
  type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined

function targetFromV1(metric: MetricV1, side: Side): MetricTarget {
  const averageValue = metric[`${side}AverageValue`] ?? metric.averageValue
  const averageUtilization = metric[`${side}AverageUtilization`]
  const printed = metric[`${side}Value`]
  // v1 prints the value of an object metric even when there is none.
  const isPadding = side === 'target' && averageValue !== undefined && metric.target !== undefined && printed === '0'
  const value = isPadding ? undefined : printed
  const type = averageUtilization !== undefined ? 'Utilization' : averageValue !== undefined ? 'AverageValue' : 'Value'
  return given<MetricTarget>({ type: side === 'target' ? type : undefined, value, averageValue, averageUtilization })
}

function sourceFromV1(metric: MetricV1, side: Side): MetricV2 {
  const { name, container, metricName, target: describedObject } = metric
  const id = given<MetricIdentifier>({ name: metricName, selector: metric.metricSelector ?? metric.selector })
  return given<MetricV2>({
    name,
    container,
    metric: metricName === undefined ? undefined : id,
    describedObject,
    [side]: targetFromV1(metric, side),
  })
}

function sourceToV1(field: MetricField, source: MetricV2, side: Side): MetricV1 {
  const amount: MetricTarget = source[side] ?? {}
  const selector = source.metric?.selector
  return given<MetricV1>({
    name: source.name,
    container: source.container,
    metricName: source.metric?.name,
    ...(field === 'external' ? { metricSelector: selector } : { selector }),
    target: source.describedObject,
    [`${side}Value`]: amount.value,
    ...(field === 'object' ? { averageValue: amount.averageValue } : { [`${side}AverageValue`]: amount.averageValue }),
    [`${side}AverageUtilization`]: amount.averageUtilization,
  })
}

type Metrics<Source> = { type?: string } & { [field in MetricField]?: Source }

function convertMetrics<From, To>(
  metrics: readonly Metrics<From>[],
  convert: (source: From, field: MetricField) => To,
): Metrics<To>[] {
  return metrics.map((metric) => {
    const result: Metrics<To> = {}
    if (metric.type !== undefined) result.type = metric.type
    for (const field of METRIC_FIELDS) {
      const source: From | undefined = metric[field]
      if (source !== undefined) result[field] = convert(source, field)
    }
    return result
  })
}

const metricsToV1 = (metrics: readonly Metrics<MetricV2>[], side: Side): Metrics<MetricV1>[] =>
  convertMetrics(metrics, (source, field) => sourceToV1(field, source, side))

const metricsFromV1 = (metrics: readonly Metrics<MetricV1>[], side: Side): Metrics<MetricV2>[] =>
  convertMetrics(metrics, (source) => sourceFromV1(source, side))

const schemaOf = (definition: string): StructSchema => {
  const schema = schemas.definition(definition)
  assert(schema?.kind === 'struct', `${definition} is no struct of the catalogue`)
  return schema
}

/** Undefined when the annotation is absent or no JSON: what nobody can read says nothing. */
function readAnnotation(object: KubeObject, name: string): Json | undefined {
  const text = object.metadata?.annotations?.[name]
  if (text === undefined) return undefined
  try {
    return parseJson(Buffer.from(text)).value
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
}

/** Undefined for what is not of the type. Null is an empty one, as Go reads it. */
function readAs<T>(value: Json, definition: string): T | undefined {
  try {
    return decodeTree(value ?? {}, schemaOf(definition)).object as T
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** A list with one item that is not of the type is as good as none. */
function readList<T>(object: KubeObject, name: string, type: string): T[] | undefined {
  const list = readAnnotation(object, name)
  if (!Array.isArray(list)) return undefined
  const items = list.map((item) => readAs<T>(item, `${V1}.${type}`))
  return items.every((item) => item !== undefined) ? items : undefined
}

/** As Go prints a list of v1's own types; undefined when it is empty. */
function printList(items: readonly KubeObject[], type: string): string | undefined {
  if (items.length === 0) return undefined
  const schema = schemaOf(`${V1}.${type}`)
  return `[${items.map((item) => encodeText(item, schema)).join(',')}]`
}

/** The behavior is printed as a type without JSON names: the fields stand under those of Go. */
const RULE_NAMES = ['StabilizationWindowSeconds', 'SelectPolicy', 'Policies', 'Tolerance'] as const
const POLICY_NAMES = ['Type', 'Value', 'PeriodSeconds'] as const

const lower = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

function goObject(names: readonly string[], source: KubeObject, map: (name: string, item: unknown) => unknown): object {
  return Object.fromEntries(names.map((name) => [name, map(name, source[lower(name)]) ?? null]))
}

function printRules(rules: HPAScalingRules | undefined): object | null {
  if (!rules) return null
  const policies = (items: unknown): unknown =>
    Array.isArray(items) ? items.map((item: KubeObject) => goObject(POLICY_NAMES, item, (_, part) => part)) : null
  return goObject(RULE_NAMES, rules, (name, part) => (name === 'Policies' ? policies(part) : part))
}

function printBehavior(behavior: HorizontalPodAutoscalerBehavior | undefined): string | undefined {
  if (!behavior) return undefined
  return JSON.stringify({ ScaleUp: printRules(behavior.scaleUp), ScaleDown: printRules(behavior.scaleDown) })
}

/** Names in whatever case, as Go reads them. */
function readBehavior(object: KubeObject): HorizontalPodAutoscalerBehavior | undefined {
  const found = readAnnotation(object, BEHAVIOR)
  if (!isJsonObject(found)) return undefined
  const behavior = readAs<HorizontalPodAutoscalerBehavior>(lowered(found), `${V2}.HorizontalPodAutoscalerBehavior`)
  return behavior?.scaleUp || behavior?.scaleDown ? behavior : undefined
}

function lowered(value: Json): Json {
  if (Array.isArray(value)) return value.map(lowered)
  if (!isJsonObject(value)) return value
  const kept = Object.entries(value).flatMap(([name, item]) =>
    (item ?? undefined) === undefined ? [] : [[lower(name), lowered(item!)]],
  )
  return Object.fromEntries(kept)
}

/** Annotations that are undefined are not put in. */
function withAnnotations(
  { metadata: given }: KubeObject,
  added: Readonly<Record<string, string | undefined>>,
): Required<Pick<KubeObject, 'metadata'>> {
  const { annotations = {}, ...metadata } = given ?? {}
  const kept = Object.entries({ ...annotations, ...added }).flatMap(([name, value]): [string, string][] =>
    value === undefined || (ALL.includes(name) && added[name] === undefined) ? [] : [[name, value]],
  )
  return { metadata: kept.length > 0 ? { ...metadata, annotations: Object.fromEntries(kept) } : metadata }
}

export function v1ToV2(object: v1.HorizontalPodAutoscaler): HorizontalPodAutoscaler {
  const { targetCPUUtilizationPercentage: target, ...spec } = object.spec ?? {}
  const { currentCPUUtilizationPercentage: current, ...status } = object.status ?? {}
  const metrics: MetricSpec[] = metricsFromV1(readList<v1.MetricSpec>(object, METRICS, 'MetricSpec') ?? [], 'target')
  if (target !== undefined) metrics.push(cpuMetric(target))
  if (metrics.length === 0) metrics.push(cpuMetric(DEFAULT_CPU_UTILIZATION))
  const conditions = readList<HorizontalPodAutoscalerCondition>(object, CONDITIONS, 'HorizontalPodAutoscalerCondition')
  return {
    ...object,
    ...withAnnotations(object, {}),
    apiVersion: 'autoscaling/v2',
    spec: given<HorizontalPodAutoscalerSpec>({ ...spec, metrics, behavior: readBehavior(object) }),
    status: given<HorizontalPodAutoscalerStatus>({
      ...status,
      currentMetrics: currentMetricsOf(object, current),
      conditions,
    }),
  }
}

/** The annotation says more than the field, so the field counts only without it. */
function currentMetricsOf(object: KubeObject, utilization: number | undefined): MetricStatus[] | undefined {
  const saved = readList<v1.MetricStatus>(object, CURRENT_METRICS, 'MetricStatus')
  if (saved !== undefined) return metricsFromV1(saved, 'current')
  if (utilization === undefined) return undefined
  return [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: utilization } } }]
}

export function v2ToV1(object: HorizontalPodAutoscaler): v1.HorizontalPodAutoscaler {
  const { metrics, behavior, ...spec } = object.spec ?? {}
  const { currentMetrics, conditions, ...status } = object.status ?? {}
  const cpu = (metrics ?? []).find(isCpuUtilization)
  const others = (metrics ?? []).filter((metric) => !isCpuUtilization(metric))
  const isCpu = ({ type, resource }: MetricStatus): boolean =>
    type === 'Resource' && resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined
  return {
    ...object,
    ...withAnnotations(object, {
      [METRICS]: printList(metricsToV1(others, 'target'), 'MetricSpec'),
      [CURRENT_METRICS]: printList(metricsToV1(currentMetrics ?? [], 'current'), 'MetricStatus'),
      [CONDITIONS]: printList(conditions ?? [], 'HorizontalPodAutoscalerCondition'),
      [BEHAVIOR]: printBehavior(behavior),
    }),
    apiVersion: 'autoscaling/v1',
    spec: given<v1.HorizontalPodAutoscalerSpec>({
      ...spec,
      targetCPUUtilizationPercentage: cpu?.resource?.target?.averageUtilization,
    }),
    status: given<v1.HorizontalPodAutoscalerStatus>({
      ...status,
      currentCPUUtilizationPercentage: (currentMetrics ?? []).findLast(isCpu)?.resource?.current?.averageUtilization,
    }),
  }
}

export const autoscalingV1: VersionConversion<HorizontalPodAutoscaler, v1.HorizontalPodAutoscaler> = {
  toMemoryVersion: v1ToV2,
  fromMemoryVersion: v2ToV1,
}
