/**
 * A value against its schema, read as it stands: each keyword a line or two, nothing made ready before. Like Kubernetes'
 * validator it counts the checks that it made, by which the alternative is chosen whose errors are told.
 */
import { isJsonObject, type Json, type JsonObject } from '#keelson/api/object.js'
import type { JsonSchema } from '#keelson/apiextensions/schema/json-schema.js'
import { isSame } from './deep-equal.js'
import { FORMATS, METADATA, PATTERNS } from './pools.js'
import { numberErrors } from './simple-numbers.js'

export interface Result {
  /** `spec.a FieldValueInvalid` */
  readonly errors: readonly string[]
  readonly count: number
}

const NOWHERE = '<nil> FieldValueInvalid'
const NONE: Result = { errors: [], count: 0 }
const sum = (results: readonly Result[]): Result => ({
  errors: results.flatMap(({ errors }) => errors),
  count: results.reduce((total, { count }) => total + count, 0),
})
const told = (count: number, ...errors: (string | false | undefined)[]): Result => ({
  errors: errors.filter((error) => typeof error === 'string'),
  count,
})

export function check(value: Json, schema: JsonSchema, path: string): Result {
  const { enum: listed = [] } = schema
  const unlisted = listed.length > 0 && !listed.some((one) => isListed(one, value)) && `${path} FieldValueNotSupported`
  if (value === null) {
    const isWrong = typesOf(schema).length > 0 && schema.nullable !== true
    return told(isWrong ? 0 : 1, isWrong && `${path} FieldValueTypeInvalid`, unlisted)
  }
  const parts = [checkType(value, schema, path), alternatives(value, schema, path), told(2, unlisted)]
  if (typeof value === 'string') parts.push(checkText(value, schema, path))
  if (typeof value === 'number' || typeof value === 'bigint')
    parts.push(told(2, ...numberErrors(value, schema, typesOf(schema), formatOf(schema), path)))
  if (Array.isArray(value)) parts.push(checkList(value, schema, path))
  if (isJsonObject(value)) parts.push(checkObject(value, schema, path))
  return sum(parts)
}

function typesOf(schema: JsonSchema): string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string']
  return schema.type === undefined ? [] : [schema.type]
}

/** Only what means something for the type. */
function formatOf(schema: JsonSchema): string {
  const { format = '' } = schema
  const types = typesOf(schema)
  const type = types.length === 1 ? types[0] : undefined
  if (type === 'integer') return ['int32', 'int64'].includes(format) ? format : ''
  if (type === 'number') return ['float', 'double'].includes(format) ? format : ''
  return (type === undefined || type === 'string') && Object.hasOwn(FORMATS, format) ? format : ''
}

function typeOf(value: Json): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return 'integer'
  return typeof value
}

/** As near to a whole number as nine digits tell. */
const isAlmostWhole = (value: Json): boolean => typeof value === 'number' && isNearWhole(value)

export function isNearWhole(value: number): boolean {
  if (Math.abs(value) >= 2 ** 53) return false
  const whole = Math.trunc(value)
  return value === whole || (value > 1 && value - whole < 1e-9 * (value + whole))
}

function checkType(value: Json, schema: JsonSchema, path: string): Result {
  const types = typesOf(schema)
  const format = formatOf(schema)
  if (types.length === 0 && format === '') return NONE
  const type = typeOf(value)
  const isNumeric = types.includes('integer') || types.includes('number')
  const fits =
    types.includes(type) ||
    (type === 'integer' && types.includes('number')) ||
    (types.includes('integer') && isAlmostWhole(value)) ||
    (format !== '' && !isNumeric && (type === 'string' || type === 'array'))
  return fits ? told(2) : told(1, `${path} FieldValueTypeInvalid`)
}

function checkText(text: string, schema: JsonSchema, path: string): Result {
  const { minLength = 0, maxLength = Infinity, pattern } = schema
  const length = [...text].length
  const format = formatOf(schema)
  const isKnown = Object.hasOwn(FORMATS, format)
  const first =
    length > maxLength
      ? `${path} FieldValueTooLong`
      : (length < minLength || (pattern !== undefined && PATTERNS[pattern]?.test(text) !== true)) &&
        `${path} FieldValueInvalid`
  return told(isKnown ? 2 : 1, first, isKnown && !FORMATS[format]!.includes(text) && `${path} FieldValueTypeInvalid`)
}

function checkList(list: Json[], schema: JsonSchema, path: string): Result {
  const { items, minItems = 0, maxItems = Infinity, uniqueItems = false } = schema
  const isRepeated = list.some((one, i) => list.slice(0, i).some((other) => isSame(one, other)))
  const own = told(
    2,
    list.length < minItems && `${path} FieldValueInvalid`,
    list.length > maxItems && `${path} FieldValueTooMany`,
    uniqueItems && isRepeated && `${path} FieldValueInvalid`,
  )
  if (items === undefined) return own
  return sum([own, ...list.map((item, i) => check(item, items as JsonSchema, `${path}[${i}]`))])
}

function checkObject(object: JsonObject, schema: JsonSchema, path: string): Result {
  const { properties = {}, additionalProperties: additional, minProperties = 0, maxProperties = Infinity } = schema
  const fields = Object.keys(object)
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(object, name))
  const within = fields.map((field): Result => {
    const at = `${path}.${field}`
    if (Object.hasOwn(properties, field)) return check(object[field] as Json, properties[field]!, at)
    if (additional === false) return told(0, `${path} FieldValueInvalid`)
    return typeof additional === 'object' ? check(object[field] as Json, additional, at) : NONE
  })
  const own = told(
    1,
    fields.length < minProperties && `${path} FieldValueInvalid`,
    fields.length > maxProperties && `${path} FieldValueTooMany`,
    ...missing.map((name) => `${path}.${name} FieldValueRequired`),
  )
  return sum([own, ...within])
}

function alternatives(value: Json, schema: JsonSchema, path: string): Result {
  const { anyOf = [], oneOf = [], allOf = [], not } = schema
  const against = (schemas: readonly JsonSchema[]): Result[] => schemas.map((one) => check(value, one, path))
  const [any, one, all] = [against(anyOf), against(oneOf), against(allOf)]
  const parts = [told(2)]
  const first = any.find(isFine)
  if (any.length > 0) parts.push(...(first ? [first] : [told(0, NOWHERE), furthest(any)]))
  const right = one.filter(isFine)
  if (right.length === 1) parts.push(right[0]!)
  else if (one.length > 0) parts.push(told(0, NOWHERE), right.length === 0 ? furthest(one) : NONE)
  parts.push(...all, told(0, !all.every(isFine) && NOWHERE))
  if (not !== undefined && isFine(check(value, not, path))) parts.push(told(0, NOWHERE))
  return sum(parts)
}

const isFine = ({ errors }: Result): boolean => errors.length === 0

const furthest = (results: readonly Result[]): Result =>
  results.reduce((best, one) => (one.count > best.count ? one : best))

/** A number with a fraction is cut where a whole one is listed. */
function isListed(listed: Json, value: Json): boolean {
  if (value === null || listed === null) return value === listed
  if (typeof value === 'number' && typeof listed === 'number' && Number.isSafeInteger(listed))
    return Math.trunc(value) === listed
  return isSame(listed, value)
}

/** Lists that have a value twice, and embedded objects that are none. */
export function checkStructure(value: Json, schema: JsonSchema | undefined, path: string): string[] {
  if (schema === undefined) return []
  if (Array.isArray(value)) {
    const below = value.flatMap((item, i) =>
      checkStructure(item, schema.items as JsonSchema | undefined, `${path}[${i}]`),
    )
    return [...repeated(value, schema, path), ...below]
  }
  if (!isJsonObject(value)) return []
  const own = schema['x-kubernetes-embedded-resource'] === true ? embedded(value, path) : []
  const { properties = {}, additionalProperties: additional } = schema
  const below = Object.keys(value).flatMap((field) => {
    const one = value[field] as Json
    if (Object.hasOwn(properties, field)) return checkStructure(one, properties[field], `${path}.${field}`)
    return typeof additional === 'object' ? checkStructure(one, additional, `${path}[${field}]`) : []
  })
  return [...own, ...below]
}

function repeated(list: Json[], schema: JsonSchema, path: string): string[] {
  const listType = schema['x-kubernetes-list-type']
  if (listType !== 'set' && listType !== 'map') return []
  const wrong = list.findIndex((item) => item !== null && !isJsonObject(item))
  if (listType === 'map' && wrong >= 0) return [`${path}[${wrong}] FieldValueInvalid`]
  const names = schema['x-kubernetes-list-map-keys'] ?? []
  const keyOf = (item: Json): Json =>
    listType === 'set' ? item : Object.fromEntries(Object.entries(item ?? {}).filter(([name]) => names.includes(name)))
  const keys = list.map(keyOf)
  return keys.flatMap((key, i) => {
    const before = keys.slice(0, i).filter((other) => isSame(key, other))
    return before.length === 1 ? [`${path}[${i}] FieldValueDuplicate`] : []
  })
}

function embedded(object: JsonObject, path: string): string[] {
  const { apiVersion, kind, metadata } = object
  const known = METADATA.find(({ kept, given }) => isSame(kept ?? given, metadata as Json | undefined))
  const wrong = known?.wrong ?? []
  const isKind = typeof kind === 'string' && /^[a-z]([-a-z0-9]*[a-z0-9])?$/i.test(kind)
  const isVersion = apiVersion === 'v1' || apiVersion === 'g/v1'
  return [
    ...(apiVersion === undefined ? [`${path}.apiVersion FieldValueRequired`] : []),
    ...(apiVersion !== undefined && !isVersion ? [`${path}.apiVersion FieldValueInvalid`] : []),
    ...(kind === undefined ? [`${path}.kind FieldValueRequired`] : []),
    ...(kind !== undefined && !isKind ? [`${path}.kind FieldValueInvalid`] : []),
    ...(known !== undefined && known.kept === undefined ? [`${path}.metadata FieldValueInvalid`] : []),
    ...wrong.map((name) => `${path}.metadata.${name} FieldValueInvalid`),
  ]
}
