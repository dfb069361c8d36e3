/**
 * Thread: any. The types that expressions see of built-in kinds, made from their schema tables: what their published documents
 * say. Quantities and int-or-string values may be several things, so nothing is known of them.
 */
import type { StructSchema, TypeSchema } from '../schema.js'
import { escapeName } from './names.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DYN,
  INT,
  listOf,
  mapOf,
  type ObjectField,
  type ObjectType,
  objectOf,
  STRING,
  TIMESTAMP,
} from './types.js'

/** Types by their schema; types may contain themselves, so a type is known before its fields are. */
export class StructTypes {
  readonly #known = new Map<StructSchema, ObjectType>()

  of(schema: StructSchema): ObjectType {
    const known = this.#known.get(schema)
    if (known !== undefined) return known
    const fields = new Map<string, ObjectField>()
    const type = objectOf(schema.name, fields)
    this.#known.set(schema, type)
    for (const { name, type: held, required } of schema.fields.values()) {
      const escaped = escapeName(name)
      if (escaped !== undefined) fields.set(escaped, { type: this.#type(held), required, property: name })
    }
    return type
  }

  #type(schema: TypeSchema): CelType {
    switch (schema.kind) {
      case 'struct':
        return this.of(schema)
      case 'list':
        return listOf(this.#type(schema.items))
      case 'map':
        return mapOf(STRING, this.#type(schema.values))
      case 'boolean':
        return BOOL
      case 'int32':
      case 'int64':
        return INT
      case 'double':
        return DOUBLE
      case 'bytes':
        return BYTES
      case 'time':
      case 'micro-time':
        return TIMESTAMP
      case 'string':
      case 'duration':
        return STRING
      default:
        return DYN
    }
  }
}
