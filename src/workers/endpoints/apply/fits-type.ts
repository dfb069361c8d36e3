/**
 * Thread: any. Whether a custom object is of its type: one that was stored before its schema changed may not be, and what is sent to
 * a subresource need not be. What does not fit, and where, validate-applied.ts finds; it takes ten times as long.
 */
import type { Json } from '../../../api/object.js'
import type { TypeSchema } from '../../../api/schema.js'
import { isObject } from '../patch/json-tree.js'
import { memberType } from './typed-walk.js'

export function fitsType(type: TypeSchema, value: Json): boolean {
  if (value === null || type.kind === 'any') return true
  switch (type.kind) {
    case 'struct':
      return (
        isObject(value) && everyMember(value, (name, member) => hasField(type, name) && fitsMember(type, name, member))
      )
    case 'map':
      return isObject(value) && everyMember(value, (_, member) => fitsType(type.values, member))
    case 'list': {
      if (!Array.isArray(value)) return false
      for (let i = 0; i < value.length; i++) if (!fitsType(type.items, value[i]!)) return false
      return true
    }
    case 'int32':
    case 'int64':
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint'
    case 'boolean':
      return typeof value === 'boolean'
    case 'quantity':
    case 'int-or-string':
      return typeof value !== 'object'
    default:
      return typeof value === 'string'
  }
}

const hasField = (type: TypeSchema, name: string): boolean =>
  type.kind !== 'struct' || type.preserveUnknown || type.fields.has(name)

const fitsMember = (type: TypeSchema, name: string, member: Json): boolean => fitsType(memberType(type, name), member)

function everyMember(
  value: Readonly<Record<string, Json | undefined>>,
  holds: (name: string, member: Json) => boolean,
): boolean {
  for (const name in value) {
    const member = value[name]
    if (member !== undefined && !holds(name, member)) return false
  }
  return true
}
