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

/** The schema and all below it, each before those that stand in it. Schemas are large and deep: nothing is made but the one list. */
export function allSchemas(schema: JsonSchema): readonly JsonSchema[] {
  const found: JsonSchema[] = []
  const open = [schema]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    found.push(next)
    const from = open.length
    pushBelow(next, open)
    reverseFrom(open, from)
  }
  return found
}

/** Pushes the schemas that stand directly in a schema, in the order of its keywords. */
function pushBelow(schema: JsonSchema, into: JsonSchema[]): void {
  const push = (value: unknown): void => {
    if (isSchema(value)) into.push(value)
  }
  const { items } = schema
  if (Array.isArray(items)) items.forEach(push)
  else push(items)
  schema.allOf?.forEach(push)
  schema.anyOf?.forEach(push)
  schema.oneOf?.forEach(push)
  push(schema.not)
  for (const map of [schema.properties, schema.patternProperties, schema.definitions, schema.dependencies])
    if (isSet(map)) for (const name of Object.keys(map)) push(map[name])
  push(schema.additionalProperties)
  push(schema.additionalItems)
}

/** Turns the end of a stack round, so that what was pushed first is popped first. */
function reverseFrom(stack: JsonSchema[], from: number): void {
  for (let low = from, high = stack.length - 1; low < high; low++, high--) {
    const swapped = stack[low]!
    stack[low] = stack[high]!
    stack[high] = swapped
  }
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
