/** Thread: pool. Defaults in a schema: values of it that have no unknown fields. */
import { type FieldPath, invalid } from '../../../api/field-error.js'
import type { Errors } from '../../../api/validation/checks.js'
import { isSet, itemsOf, type JsonSchema, propertiesOf, property, valuesOf } from './json-schema.js'
import { valueErrors } from './schema-values.js'

const RESOURCE_FIELDS = new Set(['apiVersion', 'kind', 'metadata'])

export function defaultsErrors(schema: JsonSchema, path: FieldPath, requirePruned: boolean): Errors {
  const items = itemsOf(schema)
  const at = path.child('default')
  const own: Errors = []
  if (isSet(schema.default)) {
    if (requirePruned && hasUnknownFields(schema.default, schema))
      own.push(invalid(at, schema.default, 'must not have unknown fields'))
    own.push(...valueErrors(schema.default, schema, at))
  }
  return [
    ...own,
    ...(items === undefined ? [] : defaultsErrors(items, path.child('items'), requirePruned)),
    ...propertiesOf(schema).flatMap(([name, one]) =>
      defaultsErrors(one, path.child('properties').key(name), requirePruned),
    ),
  ]
}

export function hasUnknownFields(value: unknown, schema: JsonSchema): boolean {
  if (Array.isArray(value)) {
    const items = itemsOf(schema)
    return items !== undefined && value.some((one) => hasUnknownFields(one, items))
  }
  if (typeof value !== 'object' || value === null) return false
  const isResource = schema['x-kubernetes-embedded-resource'] === true
  const keeps = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true
  return Object.entries(value).some(([name, one]) => {
    if (isResource && RESOURCE_FIELDS.has(name)) return false
    const known = property(schema, name) ?? valuesOf(schema)
    return known === undefined ? !keeps : hasUnknownFields(one, known)
  })
}
