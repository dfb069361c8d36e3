/** What comes in, in four simple walks as Kubernetes takes them: unknown fields, nulls, embedded metadata, defaults. */
import { deepCopy, isJsonObject, type Json, type JsonObject } from '#keelson/api/object.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { isSame } from './deep-equal.js'
import { METADATA } from './pools.js'

const TYPE_FIELDS: readonly string[] = ['apiVersion', 'kind', 'metadata']

/** An embedded object whose metadata, kind or version cannot be read: the request is refused. */
export class Unreadable extends Error {}

/** False: fields that have no schema are nobody's; undefined: they are somebody's, but nothing is said of them. */
export function schemaOf(schema: JsonSchema, field: string): JsonSchema | undefined | false {
  const { properties = {}, additionalProperties: additional } = schema
  if (Object.hasOwn(properties, field)) return properties[field]!
  if (additional === undefined) return false
  return typeof additional === 'object' ? additional : undefined
}

const isEmbedded = (schema: JsonSchema): boolean => schema['x-kubernetes-embedded-resource'] === true
const preserves = (schema: JsonSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

/** Paths of what it took out. `keeps`: lists hand on to their items that unknown fields stay. */
export function prune(value: Json, schema: JsonSchema | undefined, path: string, keeps: boolean): string[] {
  const stays = keeps || (schema !== undefined && preserves(schema))
  if (Array.isArray(value)) {
    if (stays && schema?.items === undefined) return []
    return value.flatMap((item, i) => prune(item, schema?.items as JsonSchema | undefined, `${path}[${i}]`, stays))
  }
  if (!isJsonObject(value)) return []
  return Object.keys(value).flatMap((field) => {
    if (schema !== undefined && isEmbedded(schema) && TYPE_FIELDS.includes(field)) return []
    const child = schema === undefined ? false : schemaOf(schema, field)
    if (child !== false) return prune(value[field] as Json, child, `${path}.${field}`, false)
    if (stays) return []
    delete value[field]
    return [`${path}.${field}`]
  })
}

const isUnwanted = (value: Json, schema: JsonSchema | undefined): schema is JsonSchema =>
  value === null && schema !== undefined && schema.nullable !== true

export function dropNulls(value: Json, schema: JsonSchema): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item, (schema.items ?? {}) as JsonSchema)
  if (!isJsonObject(value)) return
  for (const field of Object.keys(value)) {
    const child = schemaOf(schema, field) || undefined
    if (isUnwanted(value[field] as Json, child) && child.default === undefined) delete value[field]
    else if (child !== undefined) dropNulls(value[field] as Json, child)
  }
}

/** Names of unknown fields of metadata. */
export function coerce(value: Json, schema: JsonSchema | undefined, path: string): string[] {
  if (schema === undefined) return []
  if (Array.isArray(value))
    return value.flatMap((item, i) => coerce(item, schema.items as JsonSchema | undefined, `${path}[${i}]`))
  if (!isJsonObject(value)) return []
  return Object.keys(value).flatMap((field) => {
    const unknown = isEmbedded(schema) ? coerceTypeField(value, field, path) : []
    const child = schemaOf(schema, field) || undefined
    return [...unknown, ...coerce(value[field] as Json, child, `${path}.${field}`)]
  })
}

function coerceTypeField(object: JsonObject, field: string, path: string): string[] {
  if ((field === 'apiVersion' || field === 'kind') && typeof object[field] !== 'string') throw new Unreadable(field)
  if (field !== 'metadata') return []
  const known = METADATA.find(({ given }) => isSame(given, object[field] as Json))
  if (known?.kept === undefined) throw new Unreadable(field)
  object[field] = deepCopy(known.kept)
  return (known.unknown ?? []).map((name) => `${path}.metadata.${name}`)
}

/** What stands for a value. */
export function withDefaults(value: Json, schema: JsonSchema | undefined): Json {
  if (schema === undefined) return value
  if (isUnwanted(value, schema) && schema.default !== undefined) return withDefaults(deepCopy(schema.default), schema)
  if (Array.isArray(value)) return value.map((item) => withDefaults(item, schema.items as JsonSchema | undefined))
  if (!isJsonObject(value)) return value
  const full: JsonObject = { ...value }
  for (const [name, { default: given }] of Object.entries(schema.properties ?? {}))
    if (given !== undefined && !Object.hasOwn(full, name)) full[name] = deepCopy(given)
  for (const name of Object.keys(full))
    full[name] = withDefaults(full[name] as Json, schemaOf(schema, name) || undefined)
  return full
}
