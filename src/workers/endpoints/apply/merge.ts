/** Thread: any. An applied configuration merged into an object: its leaves win, its items go where the list has them. */
import type { Json, JsonObject } from '../../../api/object.js'
import type { ListSchema, TypeSchema } from '../../../api/schema.js'
import { ownValue, setMember } from '../patch/json-tree.js'
import { indexItems, itemElement, itemsOf, membersOf, memberType, shapeOf } from './typed-walk.js'

export function merge(type: TypeSchema, object: JsonObject, config: JsonObject): JsonObject {
  return (mergeValue(type, object, config) ?? {}) as JsonObject
}

function mergeValue(type: TypeSchema, left: Json | undefined, right: Json | undefined): Json | undefined {
  if (right === undefined) return left
  if (left === undefined) return right
  const shape = shapeOf(type, right ?? left)
  if (shape === 'leaf') return right
  return shape === 'members' ? mergeMembers(type, left, right) : mergeItems(type as ListSchema, left, right)
}

function mergeMembers(type: TypeSchema, left: Json, right: Json): Json | undefined {
  const ours = membersOf(left)
  const theirs = membersOf(right)
  if (size(ours) === 0 && size(theirs) === 0) return right
  const out: JsonObject = {}
  for (const name of Object.keys(ours ?? {})) {
    const merged = mergeValue(memberType(type, name), ours?.[name], theirs && ownValue(theirs, name))
    if (merged !== undefined) setMember(out, name, merged)
  }
  for (const name of Object.keys(theirs ?? {})) {
    if (ours !== undefined && Object.hasOwn(ours, name)) continue
    const merged = mergeValue(memberType(type, name), undefined, theirs?.[name])
    if (merged !== undefined) setMember(out, name, merged)
  }
  return size(out) === 0 ? undefined : out
}

const size = (members: JsonObject | undefined): number => (members === undefined ? 0 : Object.keys(members).length)

/**
 * Items of both lists. Those of the configuration keep its order; those that only the object has stay where they were
 * between the shared ones, and before what is new at the same place.
 */
function mergeItems(list: ListSchema, left: Json, right: Json): Json | undefined {
  const ours = itemsOf(left) ?? []
  const theirs = itemsOf(right) ?? []
  if (ours.length === 0 && theirs.length === 0) return right
  const leftIndex = indexItems(list, ours)
  const rightIndex = indexItems(list, theirs)
  const mergeOne = (element: string): Json | undefined => {
    const own = leftIndex.get(element)
    // An item that the object has several times does not merge: the configuration's replaces them all.
    return mergeValue(list.items, Array.isArray(own) ? undefined : own, rightIndex.get(element))
  }
  const out: Json[] = []
  const push = (item: Json | undefined): void => void (item !== undefined && out.push(item))
  for (const step of interleave(list, ours, theirs, leftIndex, rightIndex))
    push(typeof step === 'string' ? mergeOne(step) : mergeValue(list.items, step.item, undefined))
  return out.length === 0 ? undefined : out
}

/** In the order of the result: an element to merge, or an item that only the object has. */
function* interleave(
  list: ListSchema,
  ours: readonly Json[],
  theirs: readonly Json[],
  leftIndex: ReadonlyMap<string, unknown>,
  rightIndex: ReadonlyMap<string, unknown>,
): Generator<string | { item: Json }> {
  const leftElements = ours.map((item) => itemElement(list, item))
  const rightElements = theirs.map((item) => itemElement(list, item))
  const shared = rightElements.filter((element) => leftIndex.has(element))
  const merged = new Set<string>()
  let l = 0
  let r = 0
  let next = 0
  while (l < leftElements.length || r < rightElements.length) {
    const left = leftElements[l]
    const right = rightElements[r]
    if (left !== undefined && right !== undefined && left !== right) {
      // A shared item whose turn has not come: the configuration moves it behind others.
      if (rightIndex.has(left) && next < shared.length && shared[next] !== left) {
        l++
        continue
      }
    }
    if (left !== undefined && left !== right) {
      if (!rightIndex.has(left)) {
        yield { item: ours[l++]! }
        continue
      }
      if (merged.has(left)) l++
    }
    if (right === undefined) continue
    if (left === right) l++
    merged.add(right)
    yield right
    r++
    if (shared[next] === right) next++
  }
}
