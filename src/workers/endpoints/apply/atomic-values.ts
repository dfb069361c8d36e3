/**
 * Thread: any. Values of an apply configuration that its type calls atomic: lists, maps and structs that can be replaced as a whole
 * only. Mutating policies may not have any: whoever means to change a part of one would lose the rest.
 */
import { elementText, fieldElement } from '../../../api/managed-fields/path-element.js'
import type { Json, JsonObject } from '../../../api/object.js'
import type { StructSchema, TypeSchema } from '../../../api/schema.js'
import { isObject } from '../patch/json-tree.js'

/** The paths of such values: `.spec.nodeSelector`. */
export function atomicValues(type: StructSchema, configuration: JsonObject): string[] {
  const found: string[] = []
  find(type, configuration, '', found)
  return found
}

function find(type: TypeSchema, value: Json | undefined, path: string, found: string[]): void {
  if ((type.kind === 'struct' || type.kind === 'map') && isObject(value)) {
    if (type.atomic) found.push(path)
    if (type.kind === 'struct')
      for (const [name, member] of Object.entries(value)) {
        const field = type.fields.get(name)
        if (field !== undefined) find(field.type, member, path + elementText(fieldElement(name)), found)
      }
  } else if (type.kind === 'list' && Array.isArray(value)) {
    if (type.listType === 'atomic') found.push(path)
    for (const [i, item] of value.entries()) find(type.items, item, `${path}[${i}]`, found)
  }
}
