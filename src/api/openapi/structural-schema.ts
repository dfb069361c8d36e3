/** Thread: any. Types that a definition describes, in the form that decoding, patches and apply have for all types. */
import type { StructuralSchema } from '../resource-definition.js'
import type { FieldSchema, ListSchema, ScalarKind, SchemaSource, StructSchema, TypeSchema } from '../schema.js'

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

/** The type of a whole object: beside what its schema says it has what every object has. */
export function definedType(schema: StructuralSchema, name: string, builtin: SchemaSource): StructSchema {
  const struct = structOf(schema)
  const fields = new Map(struct.fields)
  for (const key of ['apiVersion', 'kind']) fields.set(key, field(key, { kind: 'string' }, false))
  fields.set('metadata', field('metadata', metadata(builtin), false))
  return { ...struct, name, fields }
}

/** Metadata of a type that prints by key, as everything in it does. */
function metadata(builtin: SchemaSource): StructSchema {
  const meta = builtin.definition(OBJECT_META)
  if (meta?.kind !== 'struct') throw new Error(`the generated tables lack ${OBJECT_META}`)
  const fields = new Map([...meta.fields].map(([name, { presence: _, wire: __, ...rest }]) => [name, rest]))
  return { ...plainStruct(fields), name: meta.name }
}

const plainStruct = (fields: ReadonlyMap<string, FieldSchema>): StructSchema => ({
  kind: 'struct',
  name: '',
  fields,
  atomic: false,
  preserveUnknown: false,
})

function field(name: string, type: TypeSchema, required: boolean, schema: StructuralSchema = {}): FieldSchema {
  return {
    name,
    type,
    required,
    enum: schema.enum?.every((value) => typeof value === 'string') ? (schema.enum as readonly string[]) : undefined,
    default: schema.default,
    patchStrategies: [],
  }
}

function structOf(schema: StructuralSchema): StructSchema {
  const required = new Set(schema.required)
  const fields = new Map<string, FieldSchema>()
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    fields.set(name, field(name, typeOf(property), required.has(name), property))
  return {
    ...plainStruct(fields),
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
    preserveUnknown: schema['x-kubernetes-preserve-unknown-fields'] === true || embeds(schema),
  }
}

/** An object within an object: its own apiVersion, kind and metadata are no part of the schema around it. */
const embeds = (schema: StructuralSchema): boolean => schema['x-kubernetes-embedded-resource'] === true

function typeOf(schema: StructuralSchema): TypeSchema {
  if (schema['x-kubernetes-int-or-string'] === true) return { kind: 'int-or-string' }
  switch (schema.type) {
    case 'object':
      return objectOf(schema)
    case 'array':
      return listOf(schema)
    case 'string':
    case 'boolean':
    case 'integer':
    case 'number':
      return { kind: SCALARS[schema.type] }
    default:
      return { kind: 'any' }
  }
}

/** Formats of strings are checked by validation; here a string is what was sent. */
const SCALARS: Readonly<Record<'string' | 'boolean' | 'integer' | 'number', ScalarKind>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'int64',
  number: 'double',
}

function objectOf(schema: StructuralSchema): TypeSchema {
  const { additionalProperties, properties } = schema
  if (properties !== undefined || additionalProperties === undefined || additionalProperties === false)
    return structOf(schema)
  const values: TypeSchema = additionalProperties === true ? { kind: 'any' } : typeOf(additionalProperties)
  return { kind: 'map', values, atomic: schema['x-kubernetes-map-type'] === 'atomic' }
}

function listOf(schema: StructuralSchema): ListSchema {
  const listType = schema['x-kubernetes-list-type']
  return {
    kind: 'list',
    items: schema.items === undefined ? { kind: 'any' } : typeOf(schema.items),
    listType: listType === 'set' || listType === 'map' ? listType : 'atomic',
    mapKeys: schema['x-kubernetes-list-map-keys'] ?? [],
    untagged: listType === undefined,
    patchStrategy: 'replace',
    patchMergeKey: undefined,
  }
}
