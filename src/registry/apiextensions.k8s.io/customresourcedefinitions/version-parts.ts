/** Thread: pool. What a version of a definition has beside its schema: columns, subresources, fields to select by. */

import { duplicate, type FieldPath, invalid, required, tooMany } from '../../../api/field-error.js'
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresources,
  SelectableField,
} from '../../../api/generated/kinds/apiextensions.v1beta1.js'
import type { Errors, List } from '../../../api/validation/checks.js'
import { resolveFieldPath } from '../../../apiextensions/rules/schema-path.js'
import { isSet, type JsonSchema } from '../../../apiextensions/schema/json-schema.js'

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['int32', 'int64', 'float', 'double', 'byte', 'date', 'date-time', 'password']
const SELECTABLE_TYPES = ['string', 'boolean', 'integer']
export const MOST_SELECTABLE = 8

const simplePathErrors = (text: string, path: FieldPath): Errors =>
  text.startsWith('.') ? [] : [invalid(path, text, 'must be a simple json path starting with .')]

export function columnErrors(
  { name = '', type = '', format = '', JSONPath = '' }: CustomResourceColumnDefinition,
  at: FieldPath,
): Errors {
  const errors: Errors = name === '' ? [required(at.child('name'))] : []
  if (type === '') errors.push(required(at.child('type'), `must be one of ${COLUMN_TYPES.join(',')}`))
  else if (!COLUMN_TYPES.includes(type))
    errors.push(invalid(at.child('type'), type, `must be one of ${COLUMN_TYPES.join(',')}`))
  if (format !== '' && !COLUMN_FORMATS.includes(format))
    errors.push(invalid(at.child('format'), format, `must be one of ${COLUMN_FORMATS.join(',')}`))
  const path = at.child('JSONPath')
  return [...errors, ...(JSONPath === '' ? [required(path)] : simplePathErrors(JSONPath, path))]
}

export function subresourcesErrors(subresources: CustomResourceSubresources | undefined, path: FieldPath): Errors {
  const scale = subresources?.scale
  if (!isSet(scale)) return []
  const under = (text: string, field: string, ...roots: string[]): Errors => {
    const at = path.child(`scale.${field}`)
    const errors = simplePathErrors(text, at)
    if (errors.length > 0 || roots.some((root) => text.startsWith(root))) return errors
    return [invalid(at, text, `should be a json path under ${roots.join(' or ')}`)]
  }
  const needed = (text: string | undefined, field: string, root: string): Errors =>
    (text ?? '') === '' ? [required(path.child(`scale.${field}`))] : under(text!, field, root)
  return [
    ...needed(scale.specReplicasPath, 'specReplicasPath', '.spec.'),
    ...needed(scale.statusReplicasPath, 'statusReplicasPath', '.status.'),
    ...((scale.labelSelectorPath ?? '') === ''
      ? []
      : under(scale.labelSelectorPath!, 'labelSelectorPath', '.spec.', '.status.')),
  ]
}

export function selectableFieldsErrors(
  fields: List<SelectableField>,
  schema: JsonSchema,
  path: FieldPath,
  allowsMany: boolean,
): Errors {
  const seen = new Set<string>()
  const errors = (fields ?? []).flatMap(({ jsonPath = '' }, i) => {
    const at = path.index(i).child('jsonPath')
    if (jsonPath === '') return [required(at)]
    const found = resolveFieldPath(jsonPath, schema, false)
    if (found === undefined) return [invalid(at, jsonPath, 'is an invalid path')]
    const wrong: Errors = []
    if (found.names[0] === 'metadata') wrong.push(invalid(at, jsonPath, 'must not point to fields in metadata'))
    if (!SELECTABLE_TYPES.includes(found.schema.type ?? ''))
      wrong.push(invalid(at, jsonPath, 'must point to a field of type string, boolean or integer'))
    const key = found.names.join('.')
    if (seen.has(key)) wrong.push(duplicate(at, jsonPath))
    seen.add(key)
    return wrong
  })
  return seen.size > MOST_SELECTABLE && !allowsMany ? [...errors, tooMany(path, seen.size, MOST_SELECTABLE)] : errors
}
