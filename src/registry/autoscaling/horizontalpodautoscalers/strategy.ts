/** Thread: pool. HorizontalPodAutoscalers: how many replicas follow from which metrics. Checked as v2, whatever the version. */

import { FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
import type { HorizontalPodAutoscaler as AutoscalerV1 } from '../../../api/generated/kinds/autoscaling.v1.js'
import type {
  HorizontalPodAutoscaler as AutoscalerV2,
  HPAScalingRules,
} from '../../../api/generated/kinds/autoscaling.v2.js'
import { type Errors, each, givenBy, nonnegative, positive } from '../../../api/validation/checks.js'
import { nonnegativeQuantity } from '../../../api/validation/quantities.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text, UNSET } from '../../generic/table-rules.js'
import { DEFAULT_CPU_UTILIZATION, isV1 } from './autoscaler.js'
import { autoscalingV1, v1ToV2 } from './conversion.js'
import { metricsErrors, referenceErrors } from './metrics.js'
import { targetsText } from './targets-text.js'

const SPEC = FieldPath.of('spec')
const STATUS = FieldPath.of('status')
const MAX_WINDOW_SECONDS = 3600
const MAX_PERIOD_SECONDS = 1800
const METRICS_ANNOTATION = 'autoscaling.alpha.kubernetes.io/metrics'

const DEFAULT_SCALE_UP: HPAScalingRules = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
}
const DEFAULT_SCALE_DOWN: HPAScalingRules = {
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
}

/** Rules see an autoscaler in the version in which it was sent. */
type Autoscaler = AutoscalerV1 | AutoscalerV2

const asV2 = (autoscaler: Autoscaler): AutoscalerV2 => (isV1(autoscaler) ? v1ToV2(autoscaler) : autoscaler)

function withDefaults(rules: HPAScalingRules | undefined, defaults: HPAScalingRules): HPAScalingRules {
  const said = Object.entries(rules ?? {}).filter(([, value]) => value !== undefined && value !== null)
  return { ...structuredClone(defaults), ...Object.fromEntries(said) }
}

function setDefaults(autoscaler: Autoscaler): void {
  if (isV1(autoscaler)) {
    autoscaler.spec ??= {}
    autoscaler.spec.minReplicas ??= 1
    if (autoscaler.metadata?.annotations?.[METRICS_ANNOTATION] === undefined)
      autoscaler.spec.targetCPUUtilizationPercentage ??= DEFAULT_CPU_UTILIZATION
    return
  }
  autoscaler.spec ??= {}
  const { spec } = autoscaler
  spec.minReplicas ??= 1
  if ((spec.metrics?.length ?? 0) === 0) {
    const target = { type: 'Utilization', averageUtilization: DEFAULT_CPU_UTILIZATION }
    spec.metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }]
  }
  if (!spec.behavior) return
  spec.behavior.scaleUp = withDefaults(spec.behavior.scaleUp, DEFAULT_SCALE_UP)
  spec.behavior.scaleDown = withDefaults(spec.behavior.scaleDown, DEFAULT_SCALE_DOWN)
}

function scalingErrors(rules: HPAScalingRules | undefined, path: FieldPath): Errors {
  if (!rules) return []
  const { stabilizationWindowSeconds: window, selectPolicy, policies, tolerance } = rules
  const errors: Errors = []
  if (window !== undefined && (window < 0 || window > MAX_WINDOW_SECONDS))
    errors.push(
      invalid(path.child('stabilizationWindowSeconds'), window, `must be between 0 and ${MAX_WINDOW_SECONDS}`),
    )
  if (selectPolicy !== undefined && !['Max', 'Min', 'Disabled'].includes(selectPolicy))
    errors.push(notSupported(path.child('selectPolicy'), selectPolicy, ['Disabled', 'Max', 'Min']))
  if ((policies?.length ?? 0) === 0) errors.push(required(path.child('policies'), 'must specify at least one Policy'))
  errors.push(
    ...each(policies, path.child('policies'), ({ type = '', value, periodSeconds: period = 0 }, at) => [
      ...(type === 'Pods' || type === 'Percent' ? [] : [notSupported(at.child('type'), type, ['Percent', 'Pods'])]),
      ...positive(value, at.child('value')),
      ...positive(period, at.child('periodSeconds')),
      ...(period > MAX_PERIOD_SECONDS
        ? [invalid(at.child('periodSeconds'), period, `must be less than or equal to ${MAX_PERIOD_SECONDS}`)]
        : []),
    ]),
    ...givenBy(tolerance, path.child('tolerance'), nonnegativeQuantity),
  )
  return errors
}

/** Zero replicas are an alpha feature: only an autoscaler that has them keeps them. */
function errorsOf(object: Autoscaler, old?: Autoscaler): Errors {
  const { spec = {} } = asV2(object)
  const { minReplicas, maxReplicas = 0 } = spec
  const least = old !== undefined && asV2(old).spec?.minReplicas === 0 ? 0 : 1
  const max = SPEC.child('maxReplicas')
  const errors: Errors = []
  if (minReplicas !== undefined && minReplicas < least)
    errors.push(invalid(SPEC.child('minReplicas'), minReplicas, `must be greater than or equal to ${least}`))
  if (maxReplicas === 0) errors.push(required(max, 'must be set and greater than 0'))
  else if (maxReplicas < 0) errors.push(invalid(max, maxReplicas, 'must be greater than or equal to 1'))
  if (minReplicas !== undefined && maxReplicas < minReplicas)
    errors.push(invalid(max, maxReplicas, 'must be greater than or equal to `minReplicas`'))
  return [
    ...errors,
    ...referenceErrors(spec.scaleTargetRef ?? {}, SPEC.child('scaleTargetRef'), true),
    ...metricsErrors(spec.metrics, SPEC.child('metrics'), minReplicas),
    ...scalingErrors(spec.behavior?.scaleUp, SPEC.child('behavior', 'scaleUp')),
    ...scalingErrors(spec.behavior?.scaleDown, SPEC.child('behavior', 'scaleDown')),
  ]
}

export const horizontalPodAutoscalerRules: ResourceRules<Autoscaler> = {
  metadataOnUpdate: 'changes',
  conversions: { 'autoscaling/v1': autoscalingV1 },
  setDefaults,
  validate: (object) => errorsOf(object),
  validateUpdate: errorsOf,
  status: {
    validateUpdate: (object) => {
      const { status = {} } = asV2(object)
      return [
        ...nonnegative(status.currentReplicas, STATUS.child('currentReplicas')),
        ...nonnegative(status.desiredReplicas, STATUS.child('desiredReplicas')),
      ]
    },
  },
  table: tableOf<Autoscaler>(
    text('Reference', 'What is scaled.', (object) => {
      const { kind = '', name = '' } = asV2(object).spec?.scaleTargetRef ?? {}
      return `${kind}/${name}`
    }),
    text('Targets', 'What its metrics are and should be.', (object) => targetsText(asV2(object))),
    text('MinPods', 'The fewest replicas.', (object) => asV2(object).spec?.minReplicas?.toString() ?? UNSET),
    text('MaxPods', 'The most replicas.', (object) => asV2(object).spec?.maxReplicas ?? 0),
    text('Replicas', 'How many there are.', (object) => asV2(object).status?.currentReplicas ?? 0),
    age(),
  ),
}
