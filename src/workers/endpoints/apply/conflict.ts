/** Thread: any. Fields that an applier wants and others own: the 409 that names them. */

import { type FieldSet, has, pathsOf } from '../../../api/managed-fields/field-set.js'
import { type Manager, managerIdentity } from '../../../api/managed-fields/managed-fields.js'
import { compareText, pathText } from '../../../api/managed-fields/path-element.js'
import { newApplyConflict, type StatusError } from '../../../api/status.js'

export interface Conflict {
  readonly manager: Manager
  readonly path: readonly string[]
}

export class ConflictError extends Error {
  override readonly name = 'ConflictError'
  readonly code = 'FieldManagerConflict'
  readonly conflicts: readonly Conflict[]

  constructor(conflicts: readonly Conflict[]) {
    super(conflictMessage(conflicts))
    this.conflicts = conflicts
  }

  toStatusError(): StatusError {
    const causes = this.conflicts.map(({ manager, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${managerText(manager)}`,
      field: pathText(path),
    }))
    return newApplyConflict(causes, this.message)
  }

  /** The conflicts that are not about these fields; undefined when none is left. */
  without(allowed: FieldSet): ConflictError | undefined {
    const left = this.conflicts.filter(({ path }) => !has(allowed, path))
    return left.length === 0 ? undefined : new ConflictError(left)
  }
}

/** The conflicts by manager, in the order of their identities. */
export function conflictsOf(sets: readonly { manager: Manager; set: FieldSet }[]): Conflict[] {
  const sorted = [...sets].sort((a, b) => compareText(managerIdentity(a.manager), managerIdentity(b.manager)))
  return sorted.flatMap(({ manager, set }) => pathsOf(set).map((path) => ({ manager, path })))
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts
  if (first !== undefined && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${managerText(first.manager)}: ${pathText(first.path)}`
  const lines: string[] = []
  let previous: string | undefined
  for (const { manager, path } of conflicts) {
    const identity = managerIdentity(manager)
    if (identity !== previous) lines.push(`conflicts with ${managerText(manager)}:`)
    previous = identity
    lines.push(`- ${pathText(path)}`)
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

function managerText({ name, operation, apiVersion, subresource }: Manager): string {
  const who = subresource === '' ? JSON.stringify(name) : `${JSON.stringify(name)} with subresource "${subresource}"`
  return operation === 'Update' ? `${who} using ${apiVersion}` : who
}
