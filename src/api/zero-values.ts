/** Thread: any. The zero values of Go's types, as JSON shows them. */
import type { Json } from './object.js'
import type { TypeSchema } from './schema.js'

/** What Go prints for the zero value of a kind that is no struct: null for lists, maps, times and raw JSON. */
export function zeroOfKind(kind: TypeSchema['kind']): Json {
  switch (kind) {
    case 'string':
      return ''
    case 'boolean':
      return false
    case 'int32':
    case 'int64':
    case 'double':
    case 'int-or-string':
      return 0
    case 'quantity':
      return '0'
    case 'duration':
      return '0s'
    default:
      return null
  }
}

/** The zero values that published documents name as the default of a field or an item, by the kind of its type. */
export const DOCUMENTED_ZEROS: Readonly<Partial<Record<TypeSchema['kind'], unknown>>> = {
  string: '',
  boolean: false,
  int32: 0,
  int64: 0,
  double: 0,
  struct: {},
}
