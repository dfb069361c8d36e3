/** Thread: any. What a type says about strategic merge: the strategy, merge key and type of each of its fields. */
import type { TypeSchema } from '../../../api/schema.js'
import { PatchError } from './patch-error.js'

export interface PatchMeta {
  readonly strategy: 'replace' | 'merge'
  readonly mergeKey: string | undefined
  /** The type of the field, or of a list's items. */
  readonly type: TypeSchema
}

const ANY: TypeSchema = { kind: 'any' }

/** The meta of a member that is an object on both sides. */
export function metaForObject(parent: TypeSchema, key: string): PatchMeta {
  const { type, strategies } = memberOf(parent, key)
  return { strategy: strategies.includes('replace') ? 'replace' : 'merge', mergeKey: undefined, type }
}

/** The meta of a member that is a list on both sides. */
export function metaForList(parent: TypeSchema, key: string): PatchMeta {
  const { type, strategies } = memberOf(parent, key)
  if (type.kind !== 'list') return { strategy: 'replace', mergeKey: undefined, type: ANY }
  const merges = type.patchStrategy === 'merge' || strategies.includes('merge')
  return { strategy: merges ? 'merge' : 'replace', mergeKey: type.patchMergeKey, type: type.items }
}

function memberOf(parent: TypeSchema, key: string): { type: TypeSchema; strategies: readonly string[] } {
  if (parent.kind === 'map') return { type: parent.values, strategies: [] }
  if (parent.kind !== 'struct') return { type: ANY, strategies: [] }
  const field = parent.fields.get(key)
  if (field !== undefined) return { type: field.type, strategies: field.patchStrategies }
  if (parent.preserveUnknown) return { type: ANY, strategies: [] }
  throw new PatchError('PatchInternal', `unable to find api field in ${parent.name} for the json field ${key}`)
}
