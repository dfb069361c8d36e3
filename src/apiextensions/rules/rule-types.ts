/**
 * Thread: any. The types that rules see, made from a structural schema as Kubernetes makes them: how long a value can become
 * (which is what costs are estimated from), which fields an object has under which escaped name, what the values of formats are.
 * What a schema does not say the type of has none, and neither has what consists of it: rules cannot speak of it.
 */
import { MAX_REQUEST_SIZE } from '../../api/cel/limits.js'
import { escapeName } from '../../api/cel/names.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DATE,
  type Declared,
  DOUBLE,
  DURATION,
  INT,
  INT_OR_STRING,
  listOf,
  mapOf,
  type ObjectField,
  objectOf,
  type ScalarType,
  STRING,
  TIMESTAMP,
} from '../../api/cel/types.js'
import type { Int64 } from '../../api/scalar-types.js'
import { isSet, itemsOf, type JsonSchema, propertiesOf, property, valuesOf } from '../schema/json-schema.js'

/** Texts of these formats in JSON, with their quotes. */
const MAX_DURATION_SIZE = 32
const MAX_DATE_TIME_SIZE = 32
const DATE_SIZE = 12
/** A code point takes up to so many bytes. */
const MAX_CODE_POINT_SIZE = 4
/** A text as large as a request, less its quotes; a list or a map, less its brackets. */
const LARGEST = MAX_REQUEST_SIZE - 2
/** Kubernetes takes keys of maps for texts without length. */
const KEY: CelType = { ...STRING, maxElements: 0 }

export const isEmbedded = (schema: JsonSchema): boolean => schema['x-kubernetes-embedded-resource'] === true

/** A length that a schema allows; one below zero is none. */
const atLeastZero = (value: Int64): number => Math.max(0, Number(value))

const TEXT: JsonSchema = { type: 'string' }

/** An object that has kind, apiVersion and the names of its metadata, whether its schema says so or not. */
export function withTypeMeta(schema: JsonSchema): JsonSchema {
  const metadata = property(schema, 'metadata')
  const isText = (one: JsonSchema | undefined): boolean => one?.type === 'string'
  const isWhole =
    isText(property(schema, 'kind')) &&
    isText(property(schema, 'apiVersion')) &&
    metadata?.type === 'object' &&
    isText(property(metadata, 'name')) &&
    isText(property(metadata, 'generateName'))
  if (isWhole) return schema
  const names: JsonSchema = { type: 'object', properties: { name: TEXT, generateName: TEXT } }
  return { ...schema, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata: names } }
}

/** Types of all parts of one schema; each part is looked at once, however many rules see it. */
export class RuleTypes {
  readonly #known = new Map<JsonSchema, CelType | undefined>()

  /** `name`: of the type of an object, by its place in the schema. `isResource`: see `withTypeMeta`. */
  typeOf(schema: JsonSchema, name: string, isResource: boolean): CelType | undefined {
    if (this.#known.has(schema)) return this.#known.get(schema)
    const type = this.#make(schema, name, isResource)
    const declared = type !== undefined && schema.nullable === true ? { ...type, nullable: true } : type
    this.#known.set(schema, declared)
    return declared
  }

  #make(schema: JsonSchema, name: string, isResource: boolean): CelType | undefined {
    if (schema['x-kubernetes-int-or-string'] === true) return { ...INT_OR_STRING, ...textLength(schema) }
    switch (schema.type) {
      case 'array':
        return this.#list(schema, name)
      case 'object':
        return this.#object(isResource ? withTypeMeta(schema) : schema, name)
      case 'string':
        return textType(schema)
      case 'boolean':
        return BOOL
      case 'number':
        return DOUBLE
      case 'integer':
        return INT
      default:
        return undefined
    }
  }

  #list(schema: JsonSchema, name: string): CelType | undefined {
    const items = itemsOf(schema)
    const element = isSet(items) ? this.typeOf(items, `${name}.@idx`, isEmbedded(items)) : undefined
    if (element === undefined) return undefined
    const { maxItems } = schema
    const maxElements = isSet(maxItems) ? atLeastZero(maxItems) : Math.trunc(LARGEST / (smallest(element) + 1))
    const listType = schema['x-kubernetes-list-type']
    if (listType !== 'set' && listType !== 'map') return listOf(element, { maxElements })
    return listOf(element, { maxElements, listType, keys: schema['x-kubernetes-list-map-keys'] ?? [] })
  }

  #object(schema: JsonSchema, name: string): CelType | undefined {
    const values = valuesOf(schema)
    if (values !== undefined) return this.#map(schema, values, name)
    const fields = new Map<string, ObjectField>()
    const required = new Set(schema.required)
    let minSerializedSize = 2
    for (const [key, one] of propertiesOf(schema)) {
      const escaped = escapeName(key)
      const type = this.typeOf(one, `${name}.${escaped ?? key}`, isEmbedded(one))
      if (type === undefined) continue
      if (escaped !== undefined) fields.set(escaped, { type, required: required.has(key), property: key })
      if (required.has(key) && !isSet(one.default))
        minSerializedSize += Buffer.byteLength(key) + smallest(type) + '"":,'.length
    }
    return objectOf(name, fields, { minSerializedSize })
  }

  #map(schema: JsonSchema, values: JsonSchema, name: string): CelType | undefined {
    const value = this.typeOf(values, `${name}.@elem`, isEmbedded(values))
    if (value === undefined) return undefined
    const { maxProperties } = schema
    const entry = smallest(value) + 6
    return mapOf(KEY, value, {
      maxElements: isSet(maxProperties) ? atLeastZero(maxProperties) : Math.trunc(LARGEST / entry),
    })
  }
}

const smallest = ({ minSerializedSize = 0 }: Declared): number => minSerializedSize

const textLength = ({ maxLength }: JsonSchema): Declared => ({
  maxElements: isSet(maxLength) ? atLeastZero(maxLength) * MAX_CODE_POINT_SIZE : LARGEST,
})

function textType(schema: JsonSchema): ScalarType {
  switch (schema.format) {
    case 'byte':
      return { ...BYTES, maxElements: isSet(schema.maxLength) ? atLeastZero(schema.maxLength) : LARGEST }
    case 'duration':
      return { ...DURATION, maxElements: MAX_DURATION_SIZE }
    case 'date':
      return { ...DATE, maxElements: DATE_SIZE }
    case 'date-time':
      return { ...TIMESTAMP, maxElements: MAX_DATE_TIME_SIZE }
    default:
      return { ...STRING, ...(isSet(schema.maxLength) ? textLength(schema) : listedLength(schema)) }
  }
}

function listedLength({ enum: listed }: JsonSchema): Declared {
  if (!isSet(listed) || listed.length === 0) return { maxElements: LARGEST }
  const lengths = listed.map((one) => (typeof one === 'string' ? Buffer.byteLength(one) : 0))
  return { maxElements: lengths.reduce((longest, one) => Math.max(longest, one), 0) }
}
