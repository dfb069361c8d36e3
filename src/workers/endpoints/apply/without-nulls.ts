/** Thread: any. Removing fields leaves null where everything was removed; here these nulls go. */
import type { Json, JsonObject } from '../../../api/object.js'
import type { TypeSchema } from '../../../api/schema.js'
import { isObject, setMember, shallowCopy } from '../patch/json-tree.js'
import { indexItems, itemElement, memberType } from './typed-walk.js'

/**
 * The value without members that are null, unless one of the sources has the same null: then somebody meant it. In a map of
 * scalars nothing is removed but whole members, so that a null there was always meant: it is the empty value.
 */
export function withoutNulls(type: TypeSchema, value: Json, sources: readonly (Json | undefined)[]): Json {
  if (Array.isArray(value)) {
    if (type.kind !== 'list' || type.listType !== 'map') return value
    const known = sources.filter((source) => Array.isArray(source)).map((source) => indexItems(type, source))
    const items = value.map((item) => {
      const element = known.length === 0 ? '' : itemElement(type, item)
      return withoutNulls(
        type.items,
        item,
        known.map((index) => index.get(element)),
      )
    })
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  if (!isObject(value) || (type.kind !== 'struct' && type.kind !== 'map') || type.atomic) return value
  let out: JsonObject | undefined
  for (const name of Object.keys(value)) {
    const member = value[name]
    if (typeof member !== 'object') continue
    const inside = sources.map((source) => (isObject(source) ? source[name] : undefined))
    if (member === null && type.kind === 'map' && isScalar(type.values)) continue
    const kept = member === null ? nullOf(inside) : withoutNulls(memberType(type, name), member, inside)
    if (kept === member) continue
    out ??= shallowCopy(value)
    if (kept === undefined) delete out[name]
    else setMember(out, name, kept)
  }
  return out ?? value
}

const nullOf = (sources: readonly (Json | undefined)[]): null | undefined => (sources.includes(null) ? null : undefined)

const isScalar = ({ kind }: TypeSchema): boolean => !['struct', 'map', 'list', 'any'].includes(kind)
