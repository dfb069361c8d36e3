/**
 * Thread: any. What a type is before anything is set in it, as far as JSON shows it: structs that are always there, scalars
 * that are written even when they are zero. Who creates an object does not own these.
 */
import type { Json, JsonObject } from '../../../api/object.js'
import type { FieldSchema, StructSchema } from '../../../api/schema.js'
import { zeroOfKind } from '../../../api/zero-values.js'

export function emptyObject(schema: StructSchema): JsonObject {
  const object: JsonObject = {}
  for (const [name, field] of schema.fields) {
    const value = emptyField(field)
    if (value !== undefined) object[name] = value
  }
  return object
}

/** Fields of custom resources have no presence: they are there when they are set. */
function emptyField({ type, presence }: FieldSchema): Json | undefined {
  if (presence === undefined || presence.omitZero) return undefined
  if (presence.pointer) return presence.omitEmpty ? undefined : null
  // A Go struct is never empty, whatever its tag says; a time is one.
  if (type.kind === 'struct') return emptyObject(type)
  if (type.kind === 'time' || type.kind === 'micro-time') return null
  return presence.omitEmpty ? undefined : zeroOfKind(type.kind)
}
