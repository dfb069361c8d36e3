/** Thread: pool. PodDisruptionBudgets: how many pods may be away at once. */
import { FieldPath, invalid, notSupported } from '../../../api/field-error.js'
import type { PodDisruptionBudget } from '../../../api/generated/kinds/policy.v1.js'
import { type Errors, givenBy, nonnegative } from '../../../api/validation/checks.js'
import { conditionErrors } from '../../../api/validation/conditions.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')
const STATUS = FieldPath.of('status')
const EMPTY_SELECTOR_MARK = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
const POLICIES = ['AlwaysAllow', 'IfHealthyBudget']

/** A count that is not negative, or a percentage up to 100. */
function amountErrors(amount: number | string, path: FieldPath): Errors {
  if (typeof amount === 'number') return nonnegative(amount, path)
  if (!/^[0-9]+%$/.test(amount)) return [invalid(path, amount, 'must be a number or a percentage')]
  return Number.parseInt(amount, 10) > 100 ? [invalid(path, amount, 'must not be greater than 100%')] : []
}

function specErrors({ spec = {} }: PodDisruptionBudget, anyValues: boolean): Errors {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec
  const errors: Errors = []
  if (minAvailable !== undefined && maxUnavailable !== undefined)
    errors.push(invalid(SPEC, spec, 'minAvailable and maxUnavailable cannot be both set'))
  errors.push(
    ...givenBy(minAvailable, SPEC.child('minAvailable'), amountErrors),
    ...givenBy(maxUnavailable, SPEC.child('maxUnavailable'), amountErrors),
    ...labelSelectorErrors(selector, SPEC.child('selector'), { anyValues }),
  )
  if (policy !== undefined && !POLICIES.includes(policy))
    errors.push(notSupported(SPEC.child('unhealthyPodEvictionPolicy'), policy, POLICIES))
  return errors
}

/**
 * In policy/v1beta1 an empty selector chose nothing, and expressions on this key said what was meant. v1 lets it stand
 * alone, and takes it out of selectors that say something else.
 */
function stripEmptySelectorMark({ spec }: PodDisruptionBudget): void {
  const { matchExpressions = [], ...others } = spec?.selector ?? {}
  if (!matchExpressions.some(({ key }) => key === EMPTY_SELECTOR_MARK)) return
  const [{ operator, values } = {}] = matchExpressions
  const alone = matchExpressions.length === 1 && Object.keys(others.matchLabels ?? {}).length === 0
  if (alone && operator === 'Exists' && (values ?? []).length === 0) return
  const rest = matchExpressions.filter(({ key }) => key !== EMPTY_SELECTOR_MARK)
  spec!.selector = rest.length === 0 ? others : { ...others, matchExpressions: rest }
}

const shown = (amount: number | string | undefined): string => (amount === undefined ? 'N/A' : String(amount))

export const podDisruptionBudgetRules: ResourceRules<PodDisruptionBudget> = {
  generationFields: ['spec'],
  allowUnconditionalUpdate: false,
  metadataOnCreate: 'none',
  metadataOnUpdate: 'none',
  setDefaults: (object) => stripEmptySelectorMark(object),
  validate: (object) => specErrors(object, false),
  validateUpdate: (object, old) => {
    const before = old.spec?.selector
    return specErrors(object, labelSelectorErrors(before, SPEC).length > 0)
  },
  status: {
    validateUpdate: (object) => {
      const { status = {} } = object
      return [
        ...conditionErrors(status.conditions, STATUS.child('conditions')),
        ...(['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const).flatMap((name) =>
          nonnegative(status[name], STATUS.child(name)),
        ),
      ]
    },
  },
  table: tableOf<PodDisruptionBudget>(
    text('Min Available', 'How many pods must stay available.', ({ spec }) => shown(spec?.minAvailable)),
    text('Max Unavailable', 'How many pods may be unavailable.', ({ spec }) => shown(spec?.maxUnavailable)),
    text('Allowed Disruptions', 'How many may be disrupted now.', ({ status }) => status?.disruptionsAllowed ?? 0, {
      type: 'integer',
    }),
    age(),
  ),
}
