/** Thread: any. What a strict decoder says of a patch document itself, before it is applied. */
import { pathText } from '../../../api/json/decode.js'
import { duplicateKeys, type ParsedJson } from '../../../api/json/parse.js'
import type { Json } from '../../../api/object.js'
import { isObject } from './json-tree.js'

const OPERATION_KEYS: readonly string[] = ['op', 'path', 'from', 'value']

/** Keys given twice, and members of the operations of a JSON patch that mean nothing. */
export function patchStrictErrors(bytes: Uint8Array, parsed: ParsedJson, isJsonPatch: boolean): string[] {
  const duplicates = countMembers(parsed.value) === parsed.memberCount ? [] : duplicateKeys(bytes)
  const errors = duplicates.map((path) => `duplicate field ${JSON.stringify(pathText(path))}`)
  if (!isJsonPatch) return errors
  return [...errors, ...unknownMembers(parsed.value)].map((error) => `json patch ${error}`)
}

function unknownMembers(patch: Json): string[] {
  if (!Array.isArray(patch)) return []
  return patch.flatMap((operation, i) =>
    Object.keys(isObject(operation) ? operation : {})
      .filter((key) => !OPERATION_KEYS.includes(key))
      .map((key) => `unknown field ${JSON.stringify(pathText([i, key]))}`),
  )
}

function countMembers(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  const children = Object.values(value)
  let count = Array.isArray(value) ? 0 : children.length
  for (const child of children) count += countMembers(child)
  return count
}
