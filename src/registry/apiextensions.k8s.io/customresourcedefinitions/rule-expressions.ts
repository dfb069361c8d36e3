/** Thread: pool. The rules of a schema as expressions: about values of the types that the schema says. */

import { type CelEnvironment, checkExpression } from '../../../api/cel/checker.js'
import {
  BOOL,
  type CelType,
  DYN,
  INT,
  listOf,
  mapOf,
  objectOf,
  optionalOf,
  STRING,
  scalar,
} from '../../../api/cel/types.js'
import { type FieldPath, invalid } from '../../../api/field-error.js'
import type { ValidationRule } from '../../../api/generated/kinds/apiextensions.v1.js'
import type { Errors } from '../../../api/validation/checks.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import { itemsOf, type JsonSchema, propertiesOf, valuesOf } from './json-schema.js'

const RESERVED = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])
const TEXT_TYPES: Readonly<Record<string, CelType>> = lookupTable({
  byte: scalar('bytes'),
  duration: scalar('duration'),
  date: scalar('timestamp'),
  'date-time': scalar('timestamp'),
})
const METADATA = objectOf('kubernetes.Metadata', { name: STRING, generateName: STRING })

/** As expressions write a field's name; undefined when they cannot. */
export function escapedName(name: string): string | undefined {
  if (RESERVED.has(name)) return `__${name}__`
  const escaped = name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__')
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined
}

/** Undefined for values that can be anything: expressions cannot speak of those. */
function typeOf(schema: JsonSchema, path: string, isResource: boolean): CelType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN
  switch (schema.type) {
    case 'array': {
      const items = itemsOf(schema)
      const of = items === undefined ? undefined : typeOf(items, `${path}.@idx`, false)
      return of === undefined ? undefined : listOf(of)
    }
    case 'object':
      return objectType(schema, path, isResource || schema['x-kubernetes-embedded-resource'] === true)
    case 'string':
      return TEXT_TYPES[schema.format ?? ''] ?? STRING
    case 'boolean':
      return BOOL
    case 'number':
      return scalar('double')
    case 'integer':
      return INT
    default:
      return undefined
  }
}

function objectType(schema: JsonSchema, path: string, isResource: boolean): CelType | undefined {
  const values = valuesOf(schema)
  if (values !== undefined) {
    const of = typeOf(values, `${path}.@elem`, false)
    return of === undefined ? undefined : mapOf(of)
  }
  const fields: Record<string, CelType> = isResource ? { apiVersion: STRING, kind: STRING, metadata: METADATA } : {}
  for (const [name, one] of propertiesOf(schema)) {
    if (isResource && name === 'metadata') continue
    const type = typeOf(one, `${path}.${name}`, false)
    const escaped = escapedName(name)
    if (type !== undefined && escaped !== undefined) fields[escaped] = type
  }
  return objectOf(path, fields)
}

/** `fixed`: values below a list without keys cannot be told apart, so there is no older one. */
export function ruleExpressionErrors(schema: JsonSchema, path: FieldPath, isRoot = true, fixed?: FieldPath): Errors {
  const rules = schema['x-kubernetes-validations'] ?? []
  const type = rules.length === 0 ? undefined : typeOf(schema, 'selfType', isRoot)
  const own =
    type === undefined
      ? []
      : rules.flatMap((rule, i) => ruleErrors(rule, type, path.child('x-kubernetes-validations').index(i), fixed))
  const [items, values] = [itemsOf(schema), valuesOf(schema)]
  const inList = schema['x-kubernetes-list-type'] === 'map' ? fixed : (fixed ?? path)
  const inMap = schema['x-kubernetes-map-type'] === 'atomic' ? (fixed ?? path) : fixed
  return [
    ...own,
    ...(items === undefined ? [] : ruleExpressionErrors(items, path.child('items'), false, inList)),
    ...(values === undefined ? [] : ruleExpressionErrors(values, path.child('additionalProperties'), false, fixed)),
    ...propertiesOf(schema).flatMap(([name, one]) =>
      ruleExpressionErrors(one, path.child('properties').key(name), false, inMap),
    ),
  ]
}

function ruleErrors(given: ValidationRule, self: CelType, at: FieldPath, fixed: FieldPath | undefined): Errors {
  const { rule = '', messageExpression = '', optionalOldSelf } = given
  const oldSelf = optionalOldSelf === true ? optionalOf(self) : self
  const environment: CelEnvironment = {
    variables: new Map([
      ['self', self],
      ['oldSelf', oldSelf],
    ]),
  }
  const errors: Errors = []
  const { errors: wrong, names } = checkExpression(rule, environment, [BOOL])
  if (wrong.length > 0) errors.push(invalid(at.child('rule'), given, `compilation failed: ${wrong.join('; ')}`))
  else if (names.has('oldSelf') && fixed !== undefined)
    errors.push(invalid(at.child('rule'), rule, `oldSelf cannot be used below ${fixed}`))
  else if (!names.has('oldSelf') && optionalOldSelf !== undefined && optionalOldSelf !== null)
    errors.push(invalid(at.child('optionalOldSelf'), optionalOldSelf, 'may not be set if oldSelf is not used in rule'))
  if (messageExpression.trim() !== '') {
    const message = checkExpression(messageExpression, environment, [STRING]).errors
    if (message.length > 0)
      errors.push(invalid(at.child('messageExpression'), given, `compilation failed: ${message.join('; ')}`))
  }
  return errors
}
