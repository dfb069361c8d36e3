/** Thread: pool. Metrics in one line: what each is and what it should be. */
import type {
  HorizontalPodAutoscaler,
  MetricTarget,
  MetricValueStatus,
} from '../../../api/generated/kinds/autoscaling.v2.js'
import { METRIC_FIELDS, type MetricSource } from './autoscaler.js'

const SHOWN = 2
const UNKNOWN = '<unknown>'

function amountsText(target: MetricTarget, current: MetricValueStatus | undefined, average: boolean): string {
  if (target.averageUtilization !== undefined) {
    const now = current?.averageUtilization
    return `${now === undefined ? UNKNOWN : `${now}%`}/${target.averageUtilization}%`
  }
  if (target.averageValue !== undefined)
    return `${current?.averageValue ?? UNKNOWN}/${target.averageValue}${average ? ' (avg)' : ''}`
  return `${current?.value ?? UNKNOWN}/${target.value ?? UNKNOWN}`
}

export function targetsText({ spec, status }: HorizontalPodAutoscaler): string {
  const metrics = spec?.metrics ?? []
  if (metrics.length === 0) return '<none>'
  const texts = metrics.slice(0, SHOWN).map((metric, i) => {
    const field = METRIC_FIELDS.find((name) => metric[name])
    if (field === undefined) return '<unknown type>'
    const source: MetricSource = metric[field]!
    const average = field === 'object' || field === 'external'
    const text = amountsText(source.target ?? {}, status?.currentMetrics?.[i]?.[field]?.current, average)
    return field === 'resource' || field === 'containerResource' ? `${source.name ?? ''}: ${text}` : text
  })
  return metrics.length > SHOWN ? `${texts.join(', ')} + ${metrics.length - SHOWN} more...` : texts.join(', ')
}
