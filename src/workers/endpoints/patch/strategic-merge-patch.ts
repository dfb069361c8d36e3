/**
 * Thread: any. Strategic merge patch: a merge patch whose lists merge by the type's merge keys, with directives inside the
 * patch ($patch, $retainKeys, $deleteFromPrimitiveList/field, $setElementOrder/field).
 */
import type { Json, JsonObject } from '../../../api/object.js'
import type { TypeSchema } from '../../../api/schema.js'
import { goText } from './go-text.js'
import { JsonIndex } from './json-index.js'
import { assertDepth, isObject, jsonEqual, ownValue, setMember, shallowCopy } from './json-tree.js'
import { badRequest, PatchError } from './patch-error.js'
import { metaForList, metaForObject, type PatchMeta } from './patch-meta.js'
import { mergeList, RepeatedMerges } from './strategic-list.js'
import { ItemIdentity, orderMerged } from './strategic-order.js'

const DIRECTIVE = '$patch'
const RETAIN_KEYS = '$retainKeys'
const DELETE_FROM_PRIMITIVE_LIST = '$deleteFromPrimitiveList'
const SET_ELEMENT_ORDER = '$setElementOrder'

/** The object with the patch merged in; neither argument is changed, unchanged parts are shared. */
export function applyStrategicMergePatch(document: JsonObject, patch: Json, schema: TypeSchema): JsonObject {
  if (!isObject(patch)) throw badRequest('error decoding patch: a strategic merge patch is an object')
  assertDepth(patch)
  return mergeObject(document, patch, schema, new RepeatedMerges())
}

function mergeObject(
  original: JsonObject,
  patch: JsonObject,
  schema: TypeSchema,
  repeated: RepeatedMerges,
): JsonObject {
  const directive = ownValue(patch, DIRECTIVE)
  if (directive !== undefined) return applyDirective(directive, patch)
  const merged = retainKeys(original, patch)
  const done = new Set<string>([RETAIN_KEYS])
  for (const key of Object.keys(patch))
    if (key.startsWith(SET_ELEMENT_ORDER)) setElementOrder(merged, patch, key, { schema, done, repeated })
  for (const key of Object.keys(patch))
    if (key.startsWith(DELETE_FROM_PRIMITIVE_LIST)) deleteFromPrimitiveList(merged, patch, key, done)
  for (const key of Object.keys(patch)) {
    const value = patch[key]
    if (value === undefined || done.has(key)) continue
    if (value === null) delete merged[key]
    else mergeMember(merged, key, value, schema, repeated)
  }
  return merged
}

function mergeMember(merged: JsonObject, key: string, value: Json, schema: TypeSchema, repeated: RepeatedMerges): void {
  const current = ownValue(merged, key)
  if (isObject(value) && isObject(current)) {
    const meta = metaForObject(schema, key)
    setMember(merged, key, meta.strategy === 'replace' ? value : mergeObject(current, value, meta.type, repeated))
  } else if (Array.isArray(value) && Array.isArray(current)) {
    setMember(merged, key, mergeListMember(current, value, metaForList(schema, key), repeated))
  } else {
    const added = withoutDirectives(value)
    if (added === undefined) delete merged[key]
    else setMember(merged, key, added)
  }
}

function mergeListMember(current: Json[], patch: Json[], meta: PatchMeta, repeated: RepeatedMerges): Json[] {
  if (meta.strategy === 'replace') return patch
  return mergeList(current, patch, meta, {
    mergeItem: (item, change, type) => mergeObject(item, change, type, repeated),
    cleanItem: withoutDirectives,
    repeated,
  })
}

function applyDirective(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {}
  if (directive !== 'replace') {
    throw new PatchError('PatchInternal', `unknown patch type: ${goText(directive)} in map: ${goText(patch)}`)
  }
  const replaced = shallowCopy(patch)
  delete replaced[DIRECTIVE]
  return replaced
}

/**
 * A copy of the original with only the keys that $retainKeys names; with all of them when the patch has no such
 * directive.
 */
function retainKeys(original: JsonObject, patch: JsonObject): JsonObject {
  const kept = ownValue(patch, RETAIN_KEYS)
  if (kept === undefined) return shallowCopy(original)
  const malformed = (): PatchError => badRequest('invalid patch format of retainKeys')
  if (!Array.isArray(kept)) throw malformed()
  const names = new Set(kept)
  for (const key of Object.keys(patch)) {
    if (key === RETAIN_KEYS || patch[key] === null || patch[key] === undefined) continue
    if (key.startsWith(DELETE_FROM_PRIMITIVE_LIST) || key.startsWith(SET_ELEMENT_ORDER)) continue
    if (!names.has(key)) throw malformed()
  }
  const retained: JsonObject = {}
  for (const key of Object.keys(original)) {
    const value = original[key]
    if (value !== undefined && names.has(key)) setMember(retained, key, value)
  }
  return retained
}

function deleteFromPrimitiveList(merged: JsonObject, patch: JsonObject, key: string, done: Set<string>): void {
  done.add(key)
  const field = fieldOfDirective(key, DELETE_FROM_PRIMITIVE_LIST, 'primitive list')
  const current = ownValue(merged, field)
  const deleted = patch[key]
  if (!Array.isArray(current) || !Array.isArray(deleted)) return
  const gone = new JsonIndex<true>()
  for (const item of deleted) gone.set(item, true)
  const remaining = current.filter((item) => gone.get(item) === undefined)
  setMember(merged, field, remaining)
}

/** Merges the list that the directive is about, and puts the result in the order that the directive gives. */
function setElementOrder(
  merged: JsonObject,
  patch: JsonObject,
  key: string,
  { schema, done, repeated }: { schema: TypeSchema; done: Set<string>; repeated: RepeatedMerges },
): void {
  done.add(key)
  const order = patch[key]
  const field = fieldOfDirective(key, SET_ELEMENT_ORDER, 'setElementOrder list')
  if (!Array.isArray(order)) throw new PatchError('PatchInternal', `${key} is not a list`)
  const current = ownValue(merged, field) ?? undefined
  const change = ownValue(patch, field)
  if (current !== undefined && !Array.isArray(current)) throw new PatchError('PatchInternal', `${field} is not a list`)
  if (change !== undefined && !Array.isArray(change)) throw new PatchError('PatchInternal', `${field} is not a list`)
  if (current === undefined && change === undefined) return
  const meta = metaForList(schema, field)
  const identity = new ItemIdentity(meta.mergeKey)
  if (change !== undefined) checkOrder(change, order, identity)
  done.add(field)
  const list = mergedForOrder(current, change, meta, repeated)
  setMember(merged, field, orderMerged(list, order, current ?? [], identity))
}

function mergedForOrder(
  current: Json[] | undefined,
  change: Json[] | undefined,
  meta: PatchMeta,
  repeated: RepeatedMerges,
): Json[] {
  if (change === undefined) return current ?? []
  if (current === undefined) return withoutDirectives(change) as Json[]
  return mergeListMember(current, change, meta, repeated)
}

/** Every item that the patch sets must be in the order list, in the same order. */
function checkOrder(change: readonly Json[], order: readonly Json[], identity: ItemIdentity): void {
  if (order.length === 0) return
  let at = 0
  for (const item of change) {
    if (isObject(item) && ownValue(item, DIRECTIVE) !== undefined) continue
    const wanted = identity.of(item)
    while (at < order.length && !jsonEqual(identity.of(order[at]!), wanted)) at++
    if (at++ >= order.length) {
      const told = `The order in patch list:\n${goText([...change])}\n doesn't match ${SET_ELEMENT_ORDER} list:\n${goText([...order])}\n`
      throw new PatchError('PatchInternal', told)
    }
  }
}

function fieldOfDirective(key: string, directive: string, what: string): string {
  if (!key.startsWith(`${directive}/`)) throw badRequest(`invalid patch format of ${what}`)
  return key.slice(directive.length + 1)
}

/**
 * A part of the patch that has no counterpart in the object, as it is stored: without nulls and directives. Undefined when
 * it is itself a directive and leaves nothing.
 */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    const items = value.map(withoutDirectives)
    return items.filter((item) => item !== undefined)
  }
  if (!isObject(value)) return value
  if (ownValue(value, DIRECTIVE) !== undefined) return undefined
  const kept: JsonObject = {}
  for (const key of Object.keys(value)) {
    const member = value[key]
    if (member === undefined || member === null || isDirectiveKey(key)) continue
    const added = withoutDirectives(member)
    if (added !== undefined) setMember(kept, key, added)
  }
  return kept
}

function isDirectiveKey(key: string): boolean {
  return (
    key === RETAIN_KEYS || key.startsWith(`${DELETE_FROM_PRIMITIVE_LIST}/`) || key.startsWith(`${SET_ELEMENT_ORDER}/`)
  )
}
