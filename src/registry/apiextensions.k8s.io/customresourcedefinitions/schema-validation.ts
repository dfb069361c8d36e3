/** Thread: pool. Schemas of definitions: what of OpenAPI they may use, and Kubernetes' own words in them. */

import { type FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { ValidationRule } from '../../../api/generated/kinds/apiextensions.v1.js'
import type { Errors } from '../../../api/validation/checks.js'
import { resolveFieldPath } from '../../../apiextensions/rules/schema-path.js'
import {
  isSet,
  itemsOf,
  type JsonSchema,
  propertiesOf,
  property,
  valuesOf,
  whyNotStructural,
} from '../../../apiextensions/schema/json-schema.js'

export const SCHEMA_TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const
const REASONS = ['FieldValueRequired', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueDuplicate']
const META_FIELDS = new Set(['metadata', 'kind', 'apiVersion'])
const LIST_TYPES = ['atomic', 'set', 'map']

/** Rules that definitions from before them need not follow. */
export interface SchemaOptions {
  readonly requireValidTypes: boolean
  readonly requireAtomicSets: boolean
  readonly requireMapKeys: boolean
}

interface Place {
  readonly isRoot: boolean
  /** Of a resource: its kind, apiVersion or metadata. */
  readonly insideMeta: boolean
  readonly forbidsDefaults: boolean
}

const ROOT: Place = { isRoot: true, insideMeta: false, forbidsDefaults: false }

/** `faulty` is told of every schema that has faults, or parts that have some. */
export const openAPISchemaErrors = (
  schema: JsonSchema,
  path: FieldPath,
  options: SchemaOptions,
  faulty: Set<JsonSchema>,
): Errors => schemaErrors(schema, path, ROOT, { ...options, faulty })

interface WalkOptions extends SchemaOptions {
  readonly faulty: Set<JsonSchema>
}

function schemaErrors(schema: JsonSchema, path: FieldPath, place: Place, options: WalkOptions): Errors {
  const errors = [
    ...ownErrors(schema, path, place, options),
    ...belowErrors(schema, path, { ...place, isRoot: false }, place.isRoot, options),
    ...mapTypeErrors(schema, path),
    ...listTypeErrors(schema, path, options),
    ...(options.requireMapKeys ? keyErrors(schema, path) : []),
    ...(schema['x-kubernetes-validations'] ?? []).flatMap((rule, i) =>
      ruleErrors(rule, schema, path.child('x-kubernetes-validations').index(i)),
    ),
  ]
  if (errors.length > 0) options.faulty.add(schema)
  return errors
}

function ownErrors(schema: JsonSchema, path: FieldPath, place: Place, options: SchemaOptions): Errors {
  const { type = '' } = schema
  const errors: Errors = []
  const forbid = (field: string, why = `${field} is not supported`): number =>
    errors.push(forbidden(path.child(field), why))
  if (options.requireValidTypes && type !== '' && !SCHEMA_TYPES.some((one) => one === type))
    errors.push(notSupported(path.child('type'), type, SCHEMA_TYPES))
  if (isSet(schema.default) && place.forbidsDefaults) forbid('default', 'must not be set here')
  if ((schema.id ?? '') !== '') forbid('id')
  if (isSet(schema.additionalItems)) forbid('additionalItems')
  if (Object.keys(schema.patternProperties ?? {}).length > 0) forbid('patternProperties')
  if (Object.keys(schema.definitions ?? {}).length > 0) forbid('definitions')
  if (isSet(schema.dependencies)) forbid('dependencies')
  if (isSet(schema.$ref)) forbid('$ref')
  if (type === 'null') forbid('type', 'type cannot be set to null, use nullable as an alternative')
  if (Array.isArray(schema.items) && schema.items.length > 0) forbid('items', 'must be a schema, not an array')
  if (place.insideMeta && schema['x-kubernetes-embedded-resource'] === true)
    forbid('x-kubernetes-embedded-resource', 'must not be used inside of resource meta')
  if (schema.uniqueItems === true) forbid('uniqueItems', 'would take quadratic time')
  const { additionalProperties: more } = schema
  if (isSet(more) && propertiesOf(schema).length > 0 && more !== true)
    forbid('additionalProperties', 'additionalProperties and properties exclude one another')
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    errors.push(invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
  return errors
}

function belowErrors(schema: JsonSchema, path: FieldPath, place: Place, isRoot: boolean, options: WalkOptions): Errors {
  const one = (below: JsonSchema | undefined, at: FieldPath, where: Place = place): Errors =>
    below === undefined ? [] : schemaErrors(below, at, where, options)
  const many = (list: JsonSchema['allOf'], name: string): Errors =>
    (list ?? []).flatMap((below, i) => one(below, path.child(name).index(i)))
  const inMap = place.insideMeta ? { ...place, forbidsDefaults: true } : place
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true
  return [
    ...one(valuesOf(schema), path.child('additionalProperties'), inMap),
    ...propertiesOf(schema).flatMap(([name, below]) => {
      const isMeta = isResource && META_FIELDS.has(name)
      const where = isMeta ? { ...place, insideMeta: true, forbidsDefaults: place.forbidsDefaults || isRoot } : place
      return one(below, path.child('properties').key(name), where)
    }),
    ...one(schema.not ?? undefined, path.child('not')),
    ...many(schema.allOf, 'allOf'),
    ...many(schema.oneOf, 'oneOf'),
    ...many(schema.anyOf, 'anyOf'),
    ...Object.entries(schema.definitions ?? {}).flatMap(([name, below]) =>
      one(below ?? {}, path.child('definitions').key(name)),
    ),
    ...one(itemsOf(schema), path.child('items')),
    ...(Array.isArray(schema.items) ? many(schema.items, 'items') : []),
    ...Object.entries(schema.dependencies ?? {}).flatMap(([name, below]) =>
      Array.isArray(below) ? [] : one(below ?? undefined, path.child('dependencies').key(name)),
    ),
  ]
}

const mustBe = (wanted: string, type: string, path: FieldPath, why: string): Errors => {
  if (type === wanted) return []
  return [type === '' ? required(path.child('type'), why) : invalid(path.child('type'), type, why)]
}

function mapTypeErrors(schema: JsonSchema, path: FieldPath): Errors {
  const mapType = schema['x-kubernetes-map-type']
  if (!isSet(mapType)) return []
  const errors = mustBe('object', schema.type ?? '', path, 'must be object if x-kubernetes-map-type is specified')
  return mapType === 'atomic' || mapType === 'granular'
    ? errors
    : [...errors, notSupported(path.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular'])]
}

function listTypeErrors(schema: JsonSchema, path: FieldPath, options: SchemaOptions): Errors {
  const listType = schema['x-kubernetes-list-type']
  const at = path.child('x-kubernetes-list-type')
  const hasKeys = (schema['x-kubernetes-list-map-keys'] ?? []).length > 0
  const wantsMap = 'must be map if x-kubernetes-list-map-keys is non-empty'
  if (!isSet(listType)) return hasKeys ? [required(at, wantsMap)] : []
  const { type = '' } = schema
  const errors = mustBe('array', type, path, 'must be array if x-kubernetes-list-type is specified')
  if (errors.length === 0 && options.requireAtomicSets && listType === 'set') errors.push(...setErrors(schema, path))
  if (!LIST_TYPES.includes(listType)) errors.push(notSupported(at, listType, LIST_TYPES))
  if (hasKeys && listType !== 'map') errors.push(invalid(at, listType, wantsMap))
  return listType === 'map' ? [...errors, ...mapListErrors(schema, path)] : errors
}

export function isNonAtomicSet(schema: JsonSchema): boolean {
  const items = itemsOf(schema)
  if (schema['x-kubernetes-list-type'] !== 'set' || items === undefined) return false
  const [list, map] = [items['x-kubernetes-list-type'], items['x-kubernetes-map-type']]
  if (items.type === 'array') return isSet(list) && list !== 'atomic'
  return items.type === 'object' && map !== 'atomic'
}

function setErrors(schema: JsonSchema, path: FieldPath): Errors {
  if (!isNonAtomicSet(schema)) return []
  const items = itemsOf(schema)!
  const field = items.type === 'array' ? 'x-kubernetes-list-type' : 'x-kubernetes-map-type'
  return [invalid(path.child('items', field), items[field] ?? null, 'must be atomic as item of a set')]
}

function mapListErrors(schema: JsonSchema, path: FieldPath): Errors {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const keysAt = path.child('x-kubernetes-list-map-keys')
  const items = itemsOf(schema)
  const errors: Errors =
    keys.length === 0 ? [required(keysAt, 'must not be empty if x-kubernetes-list-type is map')] : []
  if (!isSet(schema.items)) return [...errors, required(path.child('items'), 'a list of type map needs a schema')]
  if (items === undefined) return [...errors, invalid(path.child('items'), schema.items, 'must be a single schema')]
  if (items.type !== 'object')
    return [...errors, invalid(path.child('items', 'type'), items.type ?? '', 'must be object in a list of type map')]
  const seen = new Set<string>()
  for (const key of keys) {
    const one = property(items, key)
    if (one === undefined) errors.push(invalid(keysAt, keys, 'entries must all be names of item properties'))
    else if (one.type === 'array' || one.type === 'object')
      errors.push(invalid(path.child('items', 'properties').key(key).child('type'), one.type, 'must be a scalar type'))
    if (seen.has(key)) errors.push(invalid(keysAt, keys, 'must not contain duplicate entries'))
    seen.add(key)
  }
  return errors
}

/** Every item of a list with keys has them, and no item of a set or of such a list is null. */
export function keyErrors(schema: JsonSchema, path: FieldPath): Errors {
  const listType = schema['x-kubernetes-list-type']
  const items = itemsOf(schema)
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return []
  const errors: Errors =
    items.nullable === true ? [forbidden(path.child('items', 'nullable'), `not in a list of type ${listType}`)] : []
  if (listType === 'set') return errors
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const one = property(items, key)
    if (one === undefined) continue
    const at = path.child('items', 'properties').key(key)
    if (!(items.required ?? []).includes(key) && !isSet(one.default))
      errors.push(required(at.child('default'), 'a key of the list has a default or is required'))
    if (one.nullable === true) errors.push(forbidden(at.child('nullable'), 'a key of the list cannot be nullable'))
  }
  return errors
}

const hasLineBreaks = (text: string): boolean => /[\n\r]/.test(text)

function ruleErrors(given: ValidationRule, schema: JsonSchema, at: FieldPath): Errors {
  const { rule = '', message = '', messageExpression = '', fieldPath = '', reason } = given
  const errors: Errors = []
  const said = message.trim()
  if (rule.trim() === '') errors.push(required(at.child('rule'), 'rule is not specified'))
  else if (message !== '' && said === '') errors.push(invalid(at.child('message'), message, 'must be non-empty'))
  else if (hasLineBreaks(said)) errors.push(invalid(at.child('message'), message, 'must not contain line breaks'))
  else if (hasLineBreaks(rule.trim()) && said === '')
    errors.push(required(at.child('message'), 'a rule with line breaks needs one'))
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(required(at.child('messageExpression'), 'must be non-empty if specified'))
  if (isSet(reason) && !REASONS.includes(reason)) errors.push(notSupported(at.child('reason'), reason, REASONS))
  const path = at.child('fieldPath')
  if (fieldPath !== '' && fieldPath.trim() === '')
    errors.push(invalid(path, fieldPath, 'must be non-empty if specified'))
  if (hasLineBreaks(fieldPath)) errors.push(invalid(path, fieldPath, 'must not contain line breaks'))
  if (fieldPath !== '' && whyNotStructural(schema) === undefined && resolveFieldPath(fieldPath, schema) === undefined)
    errors.push(invalid(path, fieldPath, 'must be a valid path'))
  return errors
}
