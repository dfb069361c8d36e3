/** Thread: pool. Whether a value is what a schema says, field by field, in the terms of validation. */
import { isDeepStrictEqual } from 'node:util'
import { RE2JS } from 're2js'
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../../../api/field-error.js'
import type { Errors } from '../../../api/validation/checks.js'
import { isSet, itemsOf, type JsonSchema, propertiesOf, property, valuesOf } from './json-schema.js'

type Tree = Readonly<Record<string, unknown>>

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'object' ? 'object' : typeof value
}

const isOfType = (value: unknown, type: string): boolean =>
  typeOf(value) === type || (type === 'number' && typeOf(value) === 'integer')

export function valueErrors(value: unknown, schema: JsonSchema, path: FieldPath): Errors {
  if (value === null || value === undefined) {
    const open = schema.nullable === true || (schema.type ?? '') === ''
    return open ? [] : [typeInvalid(path, value, `must be of type ${schema.type}: "null"`)]
  }
  return [
    ...typeErrors(value, schema, path),
    ...enumErrors(value, schema, path),
    ...ownErrors(value, schema, path),
    ...junctionErrors(value, schema, path),
  ]
}

function typeErrors(value: unknown, schema: JsonSchema, path: FieldPath): Errors {
  const { type = '' } = schema
  if (schema['x-kubernetes-int-or-string'] === true)
    return isOfType(value, 'integer') || typeof value === 'string'
      ? []
      : [typeInvalid(path, value, 'must be an integer or a string')]
  return type === '' || isOfType(value, type)
    ? []
    : [typeInvalid(path, value, `must be of type ${type}: "${typeOf(value)}"`)]
}

function enumErrors(value: unknown, { enum: allowed }: JsonSchema, path: FieldPath): Errors {
  if (!isSet(allowed) || allowed.length === 0 || allowed.some((one) => isDeepStrictEqual(one, value))) return []
  const texts = allowed.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
  return [notSupported(path, value, texts)]
}

function ownErrors(value: unknown, schema: JsonSchema, path: FieldPath): Errors {
  if (typeof value === 'string') return textErrors(value, schema, path)
  if (typeof value === 'number' || typeof value === 'bigint') return numberErrors(value, schema, path)
  if (Array.isArray(value)) return listErrors(value, schema, path)
  return typeof value === 'object' ? objectErrors(value as Tree, schema, path) : []
}

function textErrors(text: string, { maxLength, minLength, pattern = '' }: JsonSchema, path: FieldPath): Errors {
  const length = [...text].length
  const errors: Errors = []
  if (isSet(maxLength) && length > Number(maxLength)) errors.push(tooLong(path, Number(maxLength)))
  if (isSet(minLength) && length < Number(minLength))
    errors.push(invalid(path, text, `should be at least ${minLength} chars long`))
  if (pattern !== '' && !RE2JS.compile(pattern).matcher(text).find())
    errors.push(invalid(path, text, `should match '${pattern}'`))
  return errors
}

function numberErrors(value: number | bigint, schema: JsonSchema, path: FieldPath): Errors {
  const { maximum, minimum, exclusiveMaximum, exclusiveMinimum, multipleOf } = schema
  const errors: FieldError[] = []
  const wrong = (why: string): number => errors.push(invalid(path, value, why))
  if (isSet(multipleOf) && Number(value) % Number(multipleOf) !== 0) wrong(`should be a multiple of ${multipleOf}`)
  if (isSet(maximum) && (exclusiveMaximum === true ? value >= maximum : value > maximum))
    wrong(`should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`)
  if (isSet(minimum) && (exclusiveMinimum === true ? value <= minimum : value < minimum))
    wrong(`should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`)
  return errors
}

function listErrors(list: readonly unknown[], schema: JsonSchema, path: FieldPath): Errors {
  const items = itemsOf(schema)
  const errors = items === undefined ? [] : list.flatMap((one, i) => valueErrors(one, items, path.index(i)))
  const { maxItems, minItems } = schema
  if (isSet(maxItems) && list.length > Number(maxItems)) errors.push(tooMany(path, list.length, Number(maxItems)))
  if (isSet(minItems) && list.length < Number(minItems))
    errors.push(invalid(path, list, `should have at least ${minItems} items`))
  return errors
}

function objectErrors(object: Tree, schema: JsonSchema, path: FieldPath): Errors {
  const names = Object.keys(object)
  const { maxProperties, minProperties, additionalProperties: more } = schema
  const errors: Errors = []
  if (isSet(maxProperties) && names.length > Number(maxProperties))
    errors.push(tooMany(path, names.length, Number(maxProperties)))
  if (isSet(minProperties) && names.length < Number(minProperties))
    errors.push(invalid(path, object, `should have at least ${minProperties} properties`))
  for (const name of schema.required ?? []) if (!Object.hasOwn(object, name)) errors.push(required(path.child(name)))
  for (const [name, one] of propertiesOf(schema))
    if (Object.hasOwn(object, name)) errors.push(...valueErrors(object[name], one, path.child(name)))
  const values = valuesOf(schema)
  for (const name of names) {
    if (property(schema, name) !== undefined) continue
    if (values !== undefined) errors.push(...valueErrors(object[name], values, path.child(name)))
    else if (more === false) errors.push(invalid(path.child(name), object[name], 'is a forbidden property'))
  }
  return errors
}

function junctionErrors(value: unknown, schema: JsonSchema, path: FieldPath): Errors {
  const holds = (one: JsonSchema): boolean => valueErrors(value, one, path).length === 0
  const { anyOf, oneOf, not } = schema
  const errors = (schema.allOf ?? []).flatMap((one) => valueErrors(value, one, path))
  if (isSet(anyOf) && anyOf.length > 0 && !anyOf.some(holds))
    errors.push(invalid(path, value, 'must validate at least one schema (anyOf)'))
  if (isSet(oneOf) && oneOf.length > 0 && oneOf.filter(holds).length !== 1)
    errors.push(invalid(path, value, 'must validate one and only one schema (oneOf)'))
  if (isSet(not) && holds(not)) errors.push(invalid(path, value, 'must not validate the schema (not)'))
  return errors
}
