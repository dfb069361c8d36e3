/** Thread: any. JSON merge patch (RFC 7386). */
import type { Json, JsonObject } from '../../../api/object.js'
import { assertDepth, isObject, ownValue, setMember, shallowCopy } from './json-tree.js'
import { badRequest } from './patch-error.js'

/** The object with the patch merged in; neither argument is changed, unchanged parts are shared. */
export function applyMergePatch(document: Json, patch: Json): JsonObject {
  if (!isObject(patch)) throw badRequest('error decoding patch: a merge patch of an object is an object')
  assertDepth(patch)
  return mergeObject(document, patch)
}

function mergeObject(target: Json | undefined, patch: JsonObject): JsonObject {
  const merged = isObject(target) ? shallowCopy(target) : {}
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === undefined) continue
    if (value === null) delete merged[key]
    else setMember(merged, key, isObject(value) ? mergeObject(ownValue(merged, key), value) : value)
  }
  return merged
}
