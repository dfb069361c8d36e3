/**
 * Thread: any. A schema in the form that apply, patches and encoders have for all types. Fields are made when somebody first
 * asks for them. As Kubernetes derives it from the published schema: an object of which nothing is said is open, and so is
 * all that is below a part that preserves unknown fields.
 */
import type { FieldSchema, ListSchema, ScalarKind, StructSchema, TypeSchema } from '../../api/schema.js'
import { isSet, itemsOf, type JsonSchema, propertiesOf, valuesOf } from './json-schema.js'

/** Any value: objects are merged by field, everything else as a whole. */
const OPEN: TypeSchema = { kind: 'any' }
const TEXT: TypeSchema = { kind: 'string' }

/** The type of a whole object: beside what its schema says it has what every object has. */
export function applyType(schema: JsonSchema, name: string, metadataType: StructSchema): StructSchema {
  return new LazyStruct({ schema, name, metadataType, isResource: true, isOpen: false })
}

interface StructOptions {
  readonly schema: JsonSchema
  readonly name: string
  readonly metadataType: StructSchema
  /** The object itself, or one embedded in it. */
  readonly isResource: boolean
  /** Below something that preserves unknown fields. */
  readonly isOpen: boolean
}

class LazyStruct implements StructSchema {
  readonly kind = 'struct'
  readonly name: string
  readonly atomic: boolean
  readonly preserveUnknown: boolean
  readonly #options: StructOptions
  #fields: ReadonlyMap<string, FieldSchema> | undefined

  constructor(options: StructOptions) {
    const { schema, name, isOpen } = options
    this.name = name
    this.atomic = schema['x-kubernetes-map-type'] === 'atomic'
    this.preserveUnknown = isOpen || preserves(schema)
    this.#options = options
  }

  get fields(): ReadonlyMap<string, FieldSchema> {
    this.#fields ??= this.#makeFields()
    return this.#fields
  }

  #makeFields(): ReadonlyMap<string, FieldSchema> {
    const { schema, metadataType, isResource } = this.#options
    const required = new Set(schema.required)
    const fields = new Map<string, FieldSchema>()
    for (const [name, property] of propertiesOf(schema))
      fields.set(name, field(name, typeOf(property, metadataType, this.preserveUnknown), required.has(name), property))
    if (!isResource) return fields
    for (const name of ['apiVersion', 'kind']) fields.set(name, field(name, TEXT, false, {}))
    return fields.set('metadata', field('metadata', plainMetadata(metadataType), false, {}))
  }
}

const preserves = (schema: JsonSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

function field(name: string, type: TypeSchema, required: boolean, schema: JsonSchema): FieldSchema {
  const texts = schema.enum?.every((value) => typeof value === 'string') ? (schema.enum as string[]) : undefined
  return { name, type, required, enum: texts, default: schema.default, patchStrategies: [] }
}

const plainTypes = new WeakMap<StructSchema, StructSchema>()

/** Metadata within an object that prints its fields by name, which therefore does so too. */
function plainMetadata(type: StructSchema): StructSchema {
  let plain = plainTypes.get(type)
  if (plain === undefined) {
    const fields = new Map([...type.fields].map(([name, { presence: _, wire: __, ...rest }]) => [name, rest]))
    plain = { kind: 'struct', name: type.name, fields, atomic: false, preserveUnknown: false }
    plainTypes.set(type, plain)
  }
  return plain
}

function typeOf(schema: JsonSchema, metadataType: StructSchema, isOpen: boolean): TypeSchema {
  switch (schema.type) {
    case 'object':
      return objectOf(schema, metadataType, isOpen)
    case 'array':
      return listOf(schema, metadataType, isOpen || preserves(schema))
    case 'boolean':
      return { kind: 'boolean' }
    case 'integer':
      return { kind: 'int64' }
    case 'number':
      return { kind: 'double' }
    case 'string':
      return { kind: textKind(schema.format ?? '') }
    default:
      return isSet(schema.properties) ? objectOf(schema, metadataType, isOpen) : OPEN
  }
}

/** Whether a string is what its format says is for validation; apply takes any scalar for one that has a format. */
const textKind = (format: string): ScalarKind => (format === '' || format === 'byte' ? 'string' : 'int-or-string')

function objectOf(schema: JsonSchema, metadataType: StructSchema, isOpen: boolean): TypeSchema {
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  const open = isOpen || preserves(schema)
  const values = valuesOf(schema)
  const atomic = schema['x-kubernetes-map-type'] === 'atomic'
  const hasFields = isResource || Object.keys(schema.properties ?? {}).length > 0
  if (values !== undefined && !hasFields) return { kind: 'map', values: typeOf(values, metadataType, open), atomic }
  if (schema.additionalProperties === true || (!isSet(schema.additionalProperties) && !hasFields))
    return { kind: 'map', values: OPEN, atomic }
  return new LazyStruct({ schema, name: '', metadataType, isResource, isOpen: open })
}

function listOf(schema: JsonSchema, metadataType: StructSchema, isOpen: boolean): ListSchema {
  const listType = schema['x-kubernetes-list-type']
  const items = itemsOf(schema)
  return new LazyList(
    listType === 'set' || listType === 'map' ? listType : 'atomic',
    schema['x-kubernetes-list-map-keys'] ?? [],
    !isSet(listType),
    () => (isSet(items) ? typeOf(items, metadataType, isOpen) : OPEN),
  )
}

class LazyList implements ListSchema {
  readonly kind = 'list'
  readonly patchStrategy = 'replace'
  readonly patchMergeKey = undefined
  readonly listType: ListSchema['listType']
  readonly mapKeys: readonly string[]
  readonly untagged: boolean
  readonly #make: () => TypeSchema
  #items: TypeSchema | undefined

  constructor(listType: ListSchema['listType'], mapKeys: readonly string[], untagged: boolean, make: () => TypeSchema) {
    this.listType = listType
    this.mapKeys = mapKeys
    this.untagged = untagged
    this.#make = make
  }

  get items(): TypeSchema {
    this.#items ??= this.#make()
    return this.#items
  }
}
