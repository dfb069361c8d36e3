/**
 * Thread: any. The scale subresource of a custom resource: where its definition says that replicas and the selector of their
 * pods are, read, checked and written. Paths are names with dots between them, as in `.spec.replicas`.
 */
import { type FieldError, FieldPath, invalid } from '../../api/field-error.js'
import type { ParsedJson } from '../../api/json/parse.js'
import { setMember } from '../../api/json/reader.js'
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'

/** As the definition has them. */
export interface ScalePaths {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

type WholeFloats = ParsedJson['wholeFloats']

const MAX_REPLICAS = 2 ** 31 - 1

/** What is at a path; undefined when nothing is, and an error where something else than an object is on the way. */
type Found =
  | { readonly value: Json | undefined; readonly holder?: JsonObject; readonly name?: string }
  | { wrong: string }

const namesOf = (path: string): string[] => path.replace(/^\./, '').split('.')

function find(object: JsonObject, path: string): Found {
  let at: Json = object
  const names = namesOf(path)
  for (const [i, name] of names.entries()) {
    if (at === null) return { value: undefined }
    if (!isJsonObject(at)) return { wrong: `${path}: ${names.slice(0, i).join('.')} is no object` }
    if (!Object.hasOwn(at, name)) return { value: undefined }
    const value: Json = at[name] ?? null
    if (i === names.length - 1) return { value, holder: at, name }
    at = value
  }
  return { value: undefined }
}

/** A whole number at a path; 0 when there is none. */
function replicasAt(object: JsonObject, path: string, wholeFloats: WholeFloats): number | bigint | { wrong: string } {
  const found = find(object, path)
  if ('wrong' in found) return found
  const { value, holder, name } = found
  if (value === undefined) return 0
  const isFloat = holder !== undefined && (wholeFloats?.get(holder)?.has(name ?? '') ?? false)
  if (typeof value === 'bigint' || (Number.isSafeInteger(value) && !isFloat)) return value as number | bigint
  return { wrong: `${path} is no whole number` }
}

function replicasErrors(object: JsonObject, path: string, wholeFloats: WholeFloats): FieldError[] {
  const at = FieldPath.of(path)
  const replicas = replicasAt(object, path, wholeFloats)
  if (typeof replicas === 'object') return [invalid(at, 0, replicas.wrong)]
  if (replicas < 0) return [invalid(at, replicas, 'should be a non-negative integer')]
  return replicas > MAX_REPLICAS ? [invalid(at, replicas, `should be less than or equal to ${MAX_REPLICAS}`)] : []
}

/** What is wrong with an object that can be scaled, whoever writes it. `status` only: a write of the status subresource. */
export function scaleErrors(
  object: JsonObject,
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths,
  wholeFloats: WholeFloats,
  part: 'all' | 'status' = 'all',
): FieldError[] {
  const errors = part === 'all' ? replicasErrors(object, specReplicasPath, wholeFloats) : []
  errors.push(...replicasErrors(object, statusReplicasPath, wholeFloats))
  if (labelSelectorPath === undefined) return errors
  const selector = find(object, labelSelectorPath)
  const at = FieldPath.of(labelSelectorPath)
  if ('wrong' in selector) errors.push(invalid(at, '', selector.wrong))
  else if (selector.value !== undefined && typeof selector.value !== 'string')
    errors.push(invalid(at, '', `${labelSelectorPath} is no string`))
  return errors
}

/** What is at a path; undefined when nothing is. Throws where something else than an object is on the way. */
export function valueAt(object: JsonObject, path: string): Json | undefined {
  const found = find(object, path)
  if ('wrong' in found) throw new Error(found.wrong)
  return found.value
}

/** Puts replicas at a path, with the objects on the way to it. */
export function setReplicas(object: JsonObject, path: string, replicas: number): void {
  const names = namesOf(path)
  const last = names.pop()!
  let at = object
  for (const name of names) {
    const next = Object.hasOwn(at, name) ? at[name] : undefined
    if (isJsonObject(next ?? null)) at = next as JsonObject
    else {
      const made: JsonObject = {}
      setMember(at, name, made)
      at = made
    }
  }
  setMember(at, last, replicas)
}
