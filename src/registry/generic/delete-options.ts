/**
 * Thread: pool. The rules of the options of a deletion, whoever sends them: a DELETE of an object or a collection, or
 * an eviction.
 */
import { type FieldError, FieldPath, notSupported } from '../../api/field-error.js'
import type { DeleteOptions as UncheckedOptions } from '../../api/generated/kinds/meta.v1.js'
import { newInvalid } from '../../api/status.js'
import type { DeleteOptions } from './strategy.js'

const POLICIES: readonly string[] = ['Orphan', 'Background', 'Foreground']

export function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  return dryRun.every((value) => value === 'All') ? [] : [notSupported(FieldPath.of('dryRun'), dryRun, ['All'])]
}

/** Throws Invalid when the options contradict themselves or hold wrong values. */
export function checkDeleteOptions(options: UncheckedOptions): asserts options is DeleteOptions {
  const errors = [...dryRunErrors(options.dryRun ?? [])]
  const { propagationPolicy, orphanDependents } = options
  const path = FieldPath.of('propagationPolicy')
  if (propagationPolicy !== undefined && orphanDependents !== undefined) {
    errors.push({
      type: 'FieldValueInvalid',
      field: path.toString(),
      badValue: propagationPolicy,
      detail: 'orphanDependents and deletionPropagation cannot be both set',
    })
  }
  if (propagationPolicy !== undefined && !POLICIES.includes(propagationPolicy)) {
    errors.push(notSupported(path, propagationPolicy, ['Foreground', 'Background', 'Orphan', 'nil']))
  }
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', errors)
}
