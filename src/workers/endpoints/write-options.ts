/** Thread: pool. The options of writing requests: from the query, or from the body of a DELETE; checked as Kubernetes does. */

import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../api/field-error.js'
import type { DeleteOptions } from '../../api/generated/kinds/meta.v1.js'
import { parseBoolean, parseInteger } from '../../api/list-options.js'
import { newInvalid } from '../../api/status.js'
import { dryRunErrors } from '../../registry/generic/delete-options.js'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  readonly force: boolean
}

export type WriteOptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions'

const MAX_MANAGER_BYTES = 128

/** Everything but letters, marks, numbers, punctuation, symbols and the plain space. */
const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu

/** Throws Invalid. `apply`: fieldManager is required, and force is allowed. */
export function parseWriteOptions(query: URLSearchParams, kind: WriteOptionsKind, apply = false): WriteOptions {
  const dryRun = query.getAll('dryRun')
  const fieldManager = query.get('fieldManager') ?? ''
  const fieldValidation = query.get('fieldValidation') ?? ''
  const errors = [...dryRunErrors(dryRun)]
  const force = query.get('force')
  if (kind === 'PatchOptions' && force !== null && !apply) {
    errors.push(forbidden(FieldPath.of('force'), 'may not be specified for non-apply patch'))
  }
  errors.push(...managerErrors(fieldManager, apply))
  if (!['', 'Ignore', 'Warn', 'Strict'].includes(fieldValidation)) {
    errors.push(notSupported(FieldPath.of('fieldValidation'), fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  }
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind }, '', errors)
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    force: parseBoolean(force),
  }
}

function managerErrors(fieldManager: string, apply: boolean): FieldError[] {
  const path = FieldPath.of('fieldManager')
  if (apply && fieldManager === '') return [required(path, 'is required for apply patch')]
  const unprintable = fieldManager.match(UNPRINTABLE) ?? []
  return [
    ...(Buffer.byteLength(fieldManager) > MAX_MANAGER_BYTES ? [tooLong(path, MAX_MANAGER_BYTES)] : []),
    ...unprintable.map((character) =>
      invalid(path, fieldManager, `holds ${JSON.stringify(character)}, which cannot be printed`),
    ),
  ]
}

/** The options of a DELETE in its query; a body takes their place. */
export function deleteOptionsFromQuery(query: URLSearchParams): DeleteOptions {
  const options: DeleteOptions = {}
  const grace = parseInteger(query.get('gracePeriodSeconds'))
  if (grace !== undefined) options.gracePeriodSeconds = grace
  const orphan = query.get('orphanDependents')
  if (orphan !== null) options.orphanDependents = parseBoolean(orphan)
  const policy = query.get('propagationPolicy')
  if (policy !== null) options.propagationPolicy = policy
  const dryRun = query.getAll('dryRun')
  if (dryRun.length > 0) options.dryRun = dryRun
  const unsafe = query.get('ignoreStoreReadErrorWithClusterBreakingPotential')
  if (unsafe !== null) options.ignoreStoreReadErrorWithClusterBreakingPotential = parseBoolean(unsafe)
  return options
}
