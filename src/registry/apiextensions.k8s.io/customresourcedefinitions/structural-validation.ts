/**
 * Thread: pool. Whether a schema is structural: the type of every value is said outside of allOf, anyOf, oneOf and not,
 * which only narrow down what is said; so that every value has one type and unknown fields can be told.
 */
import { isDeepStrictEqual } from 'node:util'
import { type FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import { isTooLarge } from '../../../api/pattern-size.js'
import type { Errors } from '../../../api/validation/checks.js'
import {
  isSet,
  itemsOf,
  type JsonSchema,
  propertiesOf,
  property,
  valuesOf,
} from '../../../apiextensions/schema/json-schema.js'
import { MAX_PATTERN_LENGTH, patternOf } from '../../../apiextensions/schema/pattern.js'

type Level = 'root' | 'item' | 'field'

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }]
const isIntOrString = ({ anyOf }: JsonSchema): boolean => isDeepStrictEqual(anyOf, INT_OR_STRING)
const METADATA_FIELDS = new Set(['name', 'generateName'])

export const structuralErrors = (schema: JsonSchema, path: FieldPath): Errors => [
  ...invariantErrors(schema, 'root', path),
  ...completenessErrors(schema, schema, path, path),
]

function invariantErrors(schema: JsonSchema, level: Level, path: FieldPath): Errors {
  const items = itemsOf(schema)
  const values = valuesOf(schema)
  const errors: Errors = []
  if (schema.type === 'array' && !isSet(schema.items)) errors.push(required(path.child('items'), 'must be specified'))
  if (items !== undefined) errors.push(...invariantErrors(items, 'item', path.child('items')))
  for (const [name, one] of propertiesOf(schema))
    errors.push(...invariantErrors(one, 'field', path.child('properties').key(name)))
  if (isSet(schema.additionalProperties) && level === 'root')
    errors.push(forbidden(path.child('additionalProperties'), 'must not be used at the root'))
  if (values !== undefined) errors.push(...invariantErrors(values, 'field', path.child('additionalProperties')))
  return [
    ...errors,
    ...extensionErrors(schema, path),
    ...valueErrors(schema, isIntOrString(schema), isIntOrString(schema.allOf?.[0] ?? {}), path),
    ...typeErrors(schema, level, path),
    ...resourceErrors(schema, level, path),
  ]
}

function extensionErrors(schema: JsonSchema, path: FieldPath): Errors {
  if (schema['x-kubernetes-int-or-string'] !== true) return []
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((name) => schema[name] === true)
    .map((name) => invalid(path.child(name), true, 'must be false if x-kubernetes-int-or-string is true'))
}

function typeErrors(schema: JsonSchema, level: Level, path: FieldPath): Errors {
  const { type = '' } = schema
  const at = path.child('type')
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const untyped =
    schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true
  const errors: Errors = []
  if (embedded && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? required(at, why) : invalid(at, type, why))
  } else if (type === '' && !untyped) errors.push(required(at, `must not be empty (${level})`))
  if (embedded && isSet(schema.additionalProperties))
    errors.push(forbidden(path.child('additionalProperties'), 'an embedded resource has none'))
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalid(at, type, 'must be object at the root'))
  return errors
}

/** What every resource has: kind, apiVersion and metadata, of which only the name may be narrowed down. */
function resourceErrors(schema: JsonSchema, level: Level, path: FieldPath): Errors {
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const isResource = level === 'root' || embedded
  const errors: Errors = []
  for (const name of ['kind', 'apiVersion']) {
    const one = property(schema, name)
    if (isResource && one !== undefined && one.type !== 'string')
      errors.push(invalid(path.child('properties').key(name).child('type'), one.type ?? '', 'must be string'))
  }
  const metadata = property(schema, 'metadata')
  const at = path.child('properties').key('metadata')
  if (metadata !== undefined && isResource && metadata.type !== 'object')
    errors.push(invalid(at.child('type'), metadata.type ?? '', 'must be object'))
  if (metadata !== undefined && level === 'root' && saysMoreThanNames(metadata))
    errors.push(forbidden(at, 'only name and generateName can be narrowed down'))
  if (embedded && schema['x-kubernetes-preserve-unknown-fields'] !== true && propertiesOf(schema).length === 0)
    errors.push(required(path.child('properties'), 'an embedded resource without them has no fields'))
  return errors
}

function saysMoreThanNames(metadata: JsonSchema): boolean {
  const { type: _, default: __, properties, ...rest } = metadata
  const names = Object.keys(properties ?? {})
  return names.some((name) => !METADATA_FIELDS.has(name)) || Object.values(rest).some(isSet)
}

function valueErrors(schema: JsonSchema, skipAnyOf: boolean, skipFirstAnyOf: boolean, path: FieldPath): Errors {
  const nested = (list: JsonSchema['allOf'], name: string, skips: (i: number) => boolean): Errors =>
    (list ?? []).flatMap((one, i) => nestedErrors(one, skips(i), path.child(name).index(i)))
  const { not, pattern = '' } = schema
  return [
    ...(skipAnyOf ? [] : nested(schema.anyOf, 'anyOf', () => false)),
    ...nested(schema.allOf, 'allOf', (i) => skipFirstAnyOf && i === 0),
    ...nested(schema.oneOf, 'oneOf', () => false),
    ...(isSet(not) ? nestedErrors(not, false, path.child('not')) : []),
    ...patternErrors(pattern, path.child('pattern')),
  ]
}

function patternErrors(pattern: string, path: FieldPath): Errors {
  if (pattern === '') return []
  if (pattern.length > MAX_PATTERN_LENGTH || isTooLarge(pattern))
    return [invalid(path, pattern, 'must be a smaller regular expression: it is too long, or repeats too much')]
  return patternOf(pattern).isValid ? [] : [invalid(path, pattern, 'must be a valid regular expression')]
}

/** Empty, false and absent are the same. */
const FORBIDDEN_WHEN_NESTED = [
  'type',
  'default',
  'title',
  'description',
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
] as const

function says(value: unknown, field: string): boolean {
  if (!isSet(value)) return false
  if (field === 'default') return true
  return Array.isArray(value) ? value.length > 0 : value !== '' && value !== false
}

function nestedErrors(schema: JsonSchema, skipAnyOf: boolean, path: FieldPath): Errors {
  const items = itemsOf(schema)
  const forbids = (field: string): Errors => [forbidden(path.child(field), 'must not be said here to be structural')]
  return [
    ...valueErrors(schema, skipAnyOf, false, path),
    ...(items === undefined ? [] : nestedErrors(items, false, path.child('items'))),
    ...propertiesOf(schema).flatMap(([name, one]) => nestedErrors(one, false, path.child('properties').key(name))),
    ...(isSet(schema.additionalProperties) ? forbids('additionalProperties') : []),
    ...FORBIDDEN_WHEN_NESTED.filter((field) => says(schema[field], field)).flatMap(forbids),
    ...(property(schema, 'metadata') === undefined
      ? []
      : [forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context')]),
  ]
}

/** What the root's allOf, anyOf, oneOf and not speak of must be there beside them. */
function completenessErrors(
  schema: JsonSchema,
  spoken: JsonSchema | undefined,
  at: FieldPath,
  from: FieldPath,
): Errors {
  const nested = (list: JsonSchema['allOf'], name: string): Errors =>
    (list ?? []).flatMap((one, i) => nestedCompleteness(one, spoken, at, from.child(name).index(i)))
  const { not } = schema
  return [
    ...(isSet(not) ? nestedCompleteness(not, spoken, at, from.child('not')) : []),
    ...nested(schema.allOf, 'allOf'),
    ...nested(schema.anyOf, 'anyOf'),
    ...nested(schema.oneOf, 'oneOf'),
  ]
}

function nestedCompleteness(
  schema: JsonSchema,
  spoken: JsonSchema | undefined,
  at: FieldPath,
  from: FieldPath,
): Errors {
  if (spoken === undefined) return [required(at, `because it is defined in ${from}`)]
  const items = itemsOf(schema)
  return [
    ...completenessErrors(schema, spoken, at, from),
    ...(items === undefined ? [] : nestedCompleteness(items, itemsOf(spoken), at.child('items'), from.child('items'))),
    ...propertiesOf(schema).flatMap(([name, one]) => {
      const [here, there] = [at.child('properties').key(name), from.child('properties').key(name)]
      return nestedCompleteness(one, property(spoken, name), here, there)
    }),
  ]
}
