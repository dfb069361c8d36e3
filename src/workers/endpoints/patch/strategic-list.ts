/** Thread: any. Merging one list by strategic merge patch: scalars as a set, objects by their merge key. */
import type { Json, JsonObject } from '../../../api/object.js'
import type { TypeSchema } from '../../../api/schema.js'
import { goText } from './go-text.js'
import { JsonIndex } from './json-index.js'
import { isObject, jsonLength, ownValue } from './json-tree.js'
import { PatchError } from './patch-error.js'
import type { PatchMeta } from './patch-meta.js'
import { ItemIdentity, noMergeKey, orderMerged } from './strategic-order.js'

/** The most bytes of items that one patch may merge anew because it names them more than once: as many as a whole request may hold. */
export const MAX_REPEATED_BYTES = 3 * 1024 * 1024

/**
 * What a patch names more than once in a list is merged as often, and each time is as long as all that is in the item: this
 * counts how much that is in a whole patch.
 */
export class RepeatedMerges {
  #bytes = 0

  /** Throws when it is too much. */
  add(item: JsonObject): void {
    this.#bytes += jsonLength(item)
    if (this.#bytes > MAX_REPEATED_BYTES)
      throw new PatchError(
        'PatchTooLarge',
        `more than ${MAX_REPEATED_BYTES} bytes of list items that are patched again`,
      )
  }
}

export interface ItemMerger {
  readonly mergeItem: (original: JsonObject, patch: JsonObject, schema: TypeSchema) => JsonObject
  readonly cleanItem: (item: Json) => Json | undefined
  readonly repeated: RepeatedMerges
}

export function mergeList(
  original: Json[],
  patch: Json[],
  meta: PatchMeta,
  { mergeItem, cleanItem, repeated }: ItemMerger,
): Json[] {
  if (original.length === 0 && patch.length === 0) return original
  if (itemKind([...original, ...patch]) !== 'object') {
    const identity = new ItemIdentity(undefined)
    return orderMerged([...new Set([...original, ...patch])], patch, original, identity)
  }
  if (meta.mergeKey === undefined) throw new PatchError('PatchInternal', 'cannot merge lists without merge key')
  const identity = new ItemIdentity(meta.mergeKey)
  const special = applySpecialItems(original as JsonObject[], patch as JsonObject[], meta.mergeKey)
  const merged: Json[] = [...special.original]
  const { mergeKey } = meta
  const index = new JsonIndex<number>()
  const note = (item: Json, at: number): void => {
    const key = isObject(item) ? ownValue(item, mergeKey) : undefined
    if (key !== undefined && index.get(key) === undefined) index.set(key, at)
  }
  for (const [i, item] of merged.entries()) note(item, i)
  const patched = new Set<number>()
  for (const item of special.patch) {
    const at = index.get(identity.of(item)) ?? merged.length
    const current = merged[at]
    if (isObject(current)) {
      if (patched.has(at)) repeated.add(current)
      patched.add(at)
      merged[at] = mergeItem(current, item, meta.type)
    } else {
      merged.push(cleanItem(item) ?? {})
      note(merged[at]!, at)
    }
  }
  return orderMerged(merged, special.patch, special.original, identity)
}

/** Carries out the items of the patch that are directives: they delete an item, or replace the whole list. */
function applySpecialItems(
  original: readonly JsonObject[],
  patch: readonly JsonObject[],
  mergeKey: string,
): { original: readonly JsonObject[]; patch: readonly JsonObject[] } {
  const plain: JsonObject[] = []
  const gone = new JsonIndex<true>()
  let replace = false
  for (const item of patch) {
    const directive = ownValue(item, '$patch')
    if (directive === undefined) plain.push(item)
    else if (directive === 'replace') replace = true
    else if (directive === 'delete') {
      const key = ownValue(item, mergeKey)
      if (key === undefined) throw noMergeKey(item, mergeKey)
      gone.set(key, true)
    } else if (directive === 'merge') {
      throw new PatchError('PatchInternal', 'merging lists cannot yet be specified in the patch')
    } else {
      throw new PatchError('PatchInternal', `unknown patch type: ${goText(directive)} in map: ${goText(item)}`)
    }
  }
  const stays = (item: JsonObject): boolean => {
    const key = ownValue(item, mergeKey)
    return key === undefined || gone.get(key) === undefined
  }
  const remaining = gone.size === 0 ? original : original.filter(stays)
  return replace ? { original: plain, patch: [] } : { original: remaining, patch: plain }
}

/** The kind of the items of a list, which must be one; lists of lists do not merge. */
function itemKind(items: readonly Json[]): string {
  const kinds = new Set(items.map(kindOf))
  const [kind] = kinds
  if (kinds.has('list')) throw new PatchError('PatchUnprocessable', 'lists of lists are not supported')
  if (kind === undefined || kind === 'null' || kinds.size > 1)
    throw new PatchError('PatchInternal', `list element types are not identical: ${goText([...items])}`)
  return kind
}

function kindOf(item: Json): string {
  if (item === null) return 'null'
  if (Array.isArray(item)) return 'list'
  return typeof item === 'bigint' ? 'number' : typeof item
}
