/** Thread: any. Rules for file paths: where they may lead. */
import { type FieldPath, invalid } from '../../../api/field-error.js'
import type { Errors } from '../../../api/validation/checks.js'

export const noBacksteps = (target: string, path: FieldPath): Errors =>
  target.split('/').includes('..') ? [invalid(path, target, "must not contain '..'")] : []

/** Relative, and never up. */
export const localDescendingPath = (target: string, path: FieldPath): Errors => [
  ...(target.startsWith('/') ? [invalid(path, target, 'must be a relative path')] : []),
  ...noBacksteps(target, path),
]

/** Names that start with two dots belong to whoever writes the volume. */
export const localNonReservedPath = (target: string, path: FieldPath): Errors => [
  ...localDescendingPath(target, path),
  ...(target.startsWith('..') && !target.startsWith('../') ? [invalid(path, target, "must not start with '..'")] : []),
]
