/** Thread: pool. The rules of an autoscaler's metrics. */

import { type FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  CrossVersionObjectReference,
  MetricSpec,
  MetricTarget,
} from '../../../api/generated/kinds/autoscaling.v2.js'
import { parseGroupVersion } from '../../../api/group-version.js'
import { dnsLabel, type Errors, each, type List, pathSegment, requiredBy } from '../../../api/validation/checks.js'
import { containerResourceName, quantityOf } from '../../../api/validation/quantities.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import { METRIC_FIELDS, type MetricField, type MetricSource } from './autoscaler.js'

const TYPES: Readonly<Record<string, MetricField>> = lookupTable({
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
})
const TYPE_NAMES = Object.keys(TYPES)

export function referenceErrors(reference: CrossVersionObjectReference, path: FieldPath, needGroup: boolean): Errors {
  const { kind, name, apiVersion = '' } = reference
  const version = apiVersion === '' ? { group: '' } : parseGroupVersion(apiVersion)
  const wrong =
    version === undefined
      ? 'is no group and version'
      : needGroup && version.group === ''
        ? 'must specify API group'
        : ''
  return [
    ...requiredBy(kind, path.child('kind'), pathSegment),
    ...requiredBy(name, path.child('name'), pathSegment),
    ...(wrong === '' ? [] : [invalid(path.child('apiVersion'), apiVersion, `apiVersion ${wrong}`)]),
  ]
}

function targetErrors(target: MetricTarget, path: FieldPath): Errors {
  const { type = '', averageUtilization } = target
  const errors: Errors = type === '' ? [required(path.child('type'), 'must specify a metric target type')] : []
  if (!['Utilization', 'Value', 'AverageValue'].includes(type))
    errors.push(invalid(path.child('type'), type, 'must be either Utilization, Value, or AverageValue'))
  for (const field of ['value', 'averageValue'] as const) {
    const amount = target[field]
    if (amount !== undefined && quantityOf(amount).sign !== 1)
      errors.push(invalid(path.child(field), amount, 'must be positive'))
  }
  if (averageUtilization !== undefined && averageUtilization < 1)
    errors.push(invalid(path.child('averageUtilization'), averageUtilization, 'must be greater than 0'))
  return errors
}

/** Which of the amounts each kind of metric needs, and which exclude each other. */
function amountErrors(
  field: MetricField,
  { value, averageValue, averageUtilization }: MetricTarget,
  path: FieldPath,
): Errors {
  const has = (amount: unknown): boolean => amount !== undefined
  if (field === 'pods') return has(averageValue) ? [] : [required(path.child('averageValue'))]
  if (field === 'object' || field === 'external') {
    if (!has(value) && !has(averageValue))
      return [required(path.child('averageValue'), 'a value or an average is needed')]
    return field === 'external' && has(value) && has(averageValue)
      ? [forbidden(path.child('value'), 'not with averageValue')]
      : []
  }
  if (!has(averageUtilization) && !has(averageValue)) return [required(path.child('averageUtilization'))]
  return has(averageUtilization) && has(averageValue)
    ? [forbidden(path.child('averageValue'), 'not with averageUtilization')]
    : []
}

function sourceErrors(field: MetricField, source: MetricSource, path: FieldPath): Errors {
  const errors: Errors = []
  if (field === 'object')
    errors.push(...referenceErrors(source.describedObject ?? {}, path.child('describedObject'), false))
  if (field === 'object' || field === 'external' || field === 'pods')
    errors.push(...requiredBy(source.metric?.name, path.child('metric', 'name'), pathSegment))
  else
    errors.push(
      ...requiredBy(source.name, path.child('name'), field === 'containerResource' ? containerResourceName : undefined),
    )
  if (field === 'containerResource') errors.push(...requiredBy(source.container, path.child('container'), dnsLabel))
  const target = source.target ?? {}
  return [
    ...errors,
    ...targetErrors(target, path.child('target')),
    ...amountErrors(field, target, path.child('target')),
  ]
}

function metricErrors(metric: MetricSpec, at: FieldPath): Errors {
  const { type = '' } = metric
  const expected = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  const errors: Errors = type === '' ? [required(at.child('type'), 'must specify a metric source type')] : []
  // Said twice, as Kubernetes says it.
  if (expected === undefined) errors.push(...[1, 2].map(() => notSupported(at.child('type'), type, TYPE_NAMES)))
  const present = METRIC_FIELDS.filter((field) => metric[field])
  const first = present[0]
  if (first !== undefined) errors.push(...sourceErrors(first, metric[first]!, at.child(first)))
  if (expected !== undefined && !metric[expected]) errors.push(required(at.child(expected)))
  if (present.length !== 1)
    for (const field of present)
      if (field !== expected) errors.push(forbidden(at.child(field), 'one kind of metric only'))
  return errors
}

export function metricsErrors(metrics: List<MetricSpec>, path: FieldPath, minReplicas: number | undefined): Errors {
  const errors = each(metrics, path, metricErrors)
  const canWake = (metrics ?? []).some(({ type }) => type === 'Object' || type === 'External')
  if (minReplicas === 0 && !canWake) errors.push(forbidden(path, 'needs an Object or External metric to scale to zero'))
  return errors
}
