/**
 * Thread: any. The order of a merged list. What the patch names stands in the patch's order, the rest in the server's, and
 * the two are interleaved by the server's order as far as it knows both: an item of the server goes before the next item
 * of the patch only when the server had it before that.
 */
import type { Json, JsonObject } from '../../../api/object.js'
import { goText } from './go-text.js'
import { JsonIndex } from './json-index.js'
import { isObject, ownValue } from './json-tree.js'
import { PatchError } from './patch-error.js'

/** How items are told apart: objects by their merge key, scalars by themselves. */
export class ItemIdentity {
  readonly mergeKey: string | undefined

  constructor(mergeKey: string | undefined) {
    this.mergeKey = mergeKey
  }

  of(item: Json): Json {
    if (this.mergeKey === undefined) return item
    if (!isObject(item)) throw new PatchError('PatchInternal', 'an item of a list that merges by key is not an object')
    const value = ownValue(item, this.mergeKey)
    if (value === undefined) throw noMergeKey(item, this.mergeKey)
    return value
  }
}

export function noMergeKey(item: JsonObject, mergeKey: string): PatchError {
  const told = `map: ${goText(item)} does not contain declared merge key: ${mergeKey}`
  return new PatchError('PatchInternal', told)
}

export function orderMerged(
  merged: readonly Json[],
  patchOrder: readonly Json[],
  serverOrder: readonly Json[],
  identity: ItemIdentity,
): Json[] {
  const inPatch = indexer(patchOrder, identity)
  const inServer = indexer(serverOrder, identity)
  const named: Json[] = []
  const serverOnly: Json[] = []
  for (const item of merged) (inPatch(item) >= 0 ? named : serverOnly).push(item)
  named.sort((a, b) => inPatch(a) - inPatch(b))
  serverOnly.sort((a, b) => place(inServer(a)) - place(inServer(b)))
  return interleave(serverOnly, named, inServer)
}

function interleave(serverOnly: readonly Json[], named: readonly Json[], inServer: (item: Json) => number): Json[] {
  const result: Json[] = []
  let left = 0
  for (const item of named) {
    const at = inServer(item)
    while (left < serverOnly.length) {
      const candidate = inServer(serverOnly[left]!)
      if (at < 0 || candidate < 0 || candidate >= at) break
      result.push(serverOnly[left++]!)
    }
    result.push(item)
  }
  return result.concat(serverOnly.slice(left))
}

const place = (index: number): number => (index < 0 ? Number.MAX_SAFE_INTEGER : index)

/** The index of an item in a list, by identity; -1 when it is not there. */
function indexer(list: readonly Json[], identity: ItemIdentity): (item: Json) => number {
  const indexes = new JsonIndex<number>()
  for (let i = list.length - 1; i >= 0; i--) indexes.set(identity.of(list[i]!), i)
  return (item) => indexes.get(identity.of(item)) ?? -1
}
