/** Thread: pool. Formats in a definition's schemas that nobody checks. */
import type { CustomResourceDefinitionSpec } from '../../../api/generated/kinds/apiextensions.v1beta1.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import { schemasOf } from './definition.js'
import { allSchemas, itemsOf, type JsonSchema } from './json-schema.js'

/** Without hyphens, as they are compared. */
const TEXT_FORMATS = new Set([
  ...['bsonobjectid', 'uri', 'email', 'hostname', 'ipv4', 'ipv6', 'cidr', 'mac', 'uuid', 'uuid3', 'uuid4', 'uuid5'],
  ...['isbn', 'isbn10', 'isbn13', 'creditcard', 'ssn', 'hexcolor', 'rgbcolor', 'byte', 'password', 'date', 'duration'],
  ...['datetime', 'k8sshortname', 'k8slongname'],
])
const NUMBER_FORMATS: Readonly<Record<string, readonly string[]>> = lookupTable({
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
})

function isKnown({ type = '', format = '' }: JsonSchema): boolean {
  if (format === '') return true
  if (type === '' || type === 'string') return TEXT_FORMATS.has(format.replaceAll('-', ''))
  return NUMBER_FORMATS[type]?.includes(format) ?? false
}

export function formatWarnings(spec: CustomResourceDefinitionSpec): string[] {
  const schemas = schemasOf(spec).flatMap((schema) => [...allSchemas(schema)])
  const unknown = schemas.filter((schema) => !isKnown(schema)).map(({ format }) => `unrecognized format "${format}"`)
  const sets = schemas
    .filter((schema) => schema['x-kubernetes-list-type'] === 'set')
    .map((schema) => itemsOf(schema)?.type ?? '')
    .filter((type) => type === 'object' || type === 'array')
  const items = [...new Set(sets)]
    .sort()
    .map((type) => `sets of items of type "${type}" are not supported by apply or rules`)
  return [...unknown, ...items]
}
