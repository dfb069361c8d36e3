/**
 * Thread: any. The types that mutating policies build changes with: `Object` and whatever begins with `Object.`, whose fields
 * may have any name and hold anything, and `JSONPatch`.
 */
import { DYN, type ObjectField, type ObjectType, objectOf, STRING } from '../../api/cel/types.js'

export const OBJECT = 'Object'

/** Every name is the name of a field. */
class AnyFields extends Map<string, ObjectField> {
  override get(name: string): ObjectField {
    return { type: DYN, required: false, property: name }
  }

  override has(): boolean {
    return true
  }
}

export const JSON_PATCH: ObjectType = objectOf('JSONPatch', { op: STRING, path: STRING, from: STRING, value: DYN })

/** The object type of a name; its path says where in the object such a value may stand, which evaluation checks. */
export function findPatchType(name: string): ObjectType | undefined {
  if (name === JSON_PATCH.name) return JSON_PATCH
  return name === OBJECT || name.startsWith(`${OBJECT}.`) ? objectOf(name, new AnyFields()) : undefined
}
