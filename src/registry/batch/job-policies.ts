/** Thread: any. When a pod's failure counts, and when a job has succeeded. */

import { duplicate, type FieldPath, invalid, required, tooLong, tooMany } from '../../api/field-error.js'
import type { JobSpec, PodFailurePolicyRule, SuccessPolicyRule } from '../../api/generated/kinds/batch.v1.js'
import { type Errors, nonnegative, oneOf, qualifiedName } from '../../api/validation/checks.js'
import { countIndexes } from './indexes.js'

const MAX_RULES = 20
const MAX_VALUES = 255
const MAX_INDEXES_BYTES = 64 * 1024

export function podFailurePolicyErrors(spec: JobSpec, path: FieldPath): Errors {
  const rules = spec.podFailurePolicy?.rules ?? []
  const at = path.child('rules')
  const { containers, initContainers } = spec.template?.spec ?? {}
  const names = new Set([...(containers ?? []), ...(initContainers ?? [])].map(({ name = '' }) => name))
  return [
    ...(rules.length > MAX_RULES ? [tooMany(at, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, i) => failureRuleErrors(spec, rule, names, at.index(i))),
  ]
}

function failureRuleErrors(
  spec: JobSpec,
  { action, onExitCodes, onPodConditions }: PodFailurePolicyRule,
  names: ReadonlySet<string>,
  path: FieldPath,
): Errors {
  const at = path.child('action')
  const conditions = onPodConditions ?? []
  const errors = oneOf(action, ['Count', 'FailIndex', 'FailJob', 'Ignore'], at, 'required')
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    errors.push(invalid(at, action, 'requires the backoffLimitPerIndex to be set'))
  if (onExitCodes !== undefined) errors.push(...exitCodeErrors(onExitCodes, names, path.child('onExitCodes')))
  errors.push(...conditionErrors(conditions, path.child('onPodConditions')))
  if ((onExitCodes !== undefined) === conditions.length > 0)
    errors.push(invalid(path, '', 'exactly one of onExitCodes and onPodConditions must be specified'))
  return errors
}

function conditionErrors(conditions: readonly { type?: string; status?: string }[], path: FieldPath): Errors {
  return [
    ...(conditions.length > MAX_RULES ? [tooMany(path, conditions.length, MAX_RULES)] : []),
    ...conditions.flatMap(({ type = '', status }, i) => [
      ...qualifiedName(type, path.index(i).child('type')),
      ...oneOf(status, ['False', 'True', 'Unknown'], path.index(i).child('status'), 'required'),
    ]),
  ]
}

function exitCodeErrors(
  { operator, containerName, values }: NonNullable<PodFailurePolicyRule['onExitCodes']>,
  names: ReadonlySet<string>,
  path: FieldPath,
): Errors {
  const errors = oneOf(operator, ['In', 'NotIn'], path.child('operator'), 'required')
  if (containerName !== undefined && !names.has(containerName))
    errors.push(invalid(path.child('containerName'), containerName, 'must be the name of a container of the template'))
  const at = path.child('values')
  const codes = values ?? []
  if (codes.length === 0) errors.push(invalid(at, codes, 'at least one value is required'))
  else if (codes.length > MAX_VALUES) errors.push(tooMany(at, codes.length, MAX_VALUES))
  const seen = new Set<number>()
  for (const [i, code] of codes.entries()) {
    if (operator === 'In' && code === 0) errors.push(invalid(at.index(i), code, 'must not be 0 for the In operator'))
    if (seen.has(code)) errors.push(duplicate(at.index(i), code))
    seen.add(code)
  }
  if (codes.some((code, i) => i > 0 && codes[i - 1]! > code)) errors.push(invalid(at, codes, 'must be ordered'))
  return errors
}

export function successPolicyErrors(spec: JobSpec, path: FieldPath): Errors {
  const rules = spec.successPolicy?.rules ?? []
  const at = path.child('rules')
  return [
    ...(rules.length === 0 ? [required(at, 'at least one rule must be specified')] : []),
    ...(rules.length > MAX_RULES ? [tooMany(at, rules.length, MAX_RULES)] : []),
    ...rules.flatMap((rule, i) => successRuleErrors(rule, spec.completions ?? 0, at.index(i))),
  ]
}

function successRuleErrors(
  { succeededCount, succeededIndexes }: SuccessPolicyRule,
  completions: number,
  path: FieldPath,
): Errors {
  const errors: Errors = []
  if (succeededCount === undefined && succeededIndexes === undefined)
    errors.push(required(path, 'at least one of succeededCount or succeededIndexes must be specified'))
  let total: number | undefined
  if (succeededIndexes !== undefined) {
    const at = path.child('succeededIndexes')
    if (succeededIndexes.length > MAX_INDEXES_BYTES) errors.push(tooLong(at, MAX_INDEXES_BYTES))
    total = countIndexes(succeededIndexes, completions)
    if (total === undefined) errors.push(invalid(at, succeededIndexes, 'must be an ascending list of indexes'))
  }
  if (succeededCount === undefined) return errors
  const at = path.child('succeededCount')
  errors.push(...nonnegative(succeededCount, at))
  if (succeededCount > completions)
    errors.push(invalid(at, succeededCount, `must be at most ${completions}, the completions`))
  if (succeededIndexes !== undefined && succeededCount > (total ?? 0))
    errors.push(invalid(at, succeededCount, `must be at most ${total ?? 0}, the number of succeededIndexes`))
  return errors
}
