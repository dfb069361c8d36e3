/** Thread: any. Schemas as definitions write them, and the walk over all that stand in one. */
import type { JSONSchemaProps } from '../../api/generated/kinds/apiextensions.v1.js'

/** The same in all versions of definitions. */
export type JsonSchema = JSONSchemaProps

export const isSet = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null

/** The one schema of all items; several are not supported. */
export const itemsOf = ({ items }: JsonSchema): JsonSchema | undefined => (Array.isArray(items) ? undefined : items)

export const valuesOf = ({ additionalProperties: values }: JsonSchema): JsonSchema | undefined =>
  isSet(values) && typeof values === 'object' ? values : undefined

/** A property that is null says nothing of its values. */
export const propertiesOf = ({ properties }: JsonSchema): [string, JsonSchema][] =>
  Object.entries(properties ?? {}).map(([name, schema]) => [name, schema ?? {}])

export function property({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  return isSet(properties) && Object.hasOwn(properties, name) ? (properties[name] ?? {}) : undefined
}

/** It and all below it. */
export function* allSchemas(schema: JsonSchema): Generator<JsonSchema> {
  yield schema
  const { items, additionalProperties, additionalItems, not } = schema
  const named = [schema.properties, schema.patternProperties, schema.definitions, schema.dependencies]
  const below = [
    ...(Array.isArray(items) ? items : [items]),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    not,
    ...named.flatMap((map) => Object.values(map ?? {})),
    additionalProperties,
    additionalItems,
  ]
  for (const one of below) if (isSchema(one)) yield* allSchemas(one)
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What has no form that decoding, patches and apply could follow. */
export function whyNotStructural(schema: JsonSchema): string | undefined {
  for (const one of allSchemas(schema)) {
    if (Array.isArray(one.items)) return "'items' must be a schema, but is an array"
    for (const field of ['id', '$schema', '$ref'] as const)
      if ((one[field] ?? '') !== '') return `'${field}' is not supported`
    for (const field of ['patternProperties', 'dependencies', 'definitions'] as const)
      if (Object.keys(one[field] ?? {}).length > 0) return `'${field}' is not supported`
    if (isSet(one.additionalItems)) return "'additionalItems' is not supported"
    if (one['x-kubernetes-preserve-unknown-fields'] === false)
      return "'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  }
  return undefined
}
