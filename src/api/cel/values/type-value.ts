/** Thread: any. Types as values, and the type that a value has. */
import { BOOL, type CelType, DOUBLE, DYN, INT, listOf, mapOf, NULL, STRING, TYPE, typeName } from '../types.js'
import { Boxed, type CelValue, ListValue, MapValue } from './value.js'

const LIST = listOf(DYN)
const MAP = mapOf(DYN, DYN)

/** As `type(x)` names it: without parameters. */
export function runtimeTypeName(type: CelType): string {
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'type':
      return type.kind
    case 'null':
      return 'null_type'
    case 'timestamp':
      return 'google.protobuf.Timestamp'
    case 'duration':
      return 'google.protobuf.Duration'
    case 'object':
    case 'opaque':
      return type.name
    default:
      return typeName(type)
  }
}

export class TypeValue extends Boxed {
  readonly named: CelType

  constructor(named: CelType) {
    super()
    this.named = named
  }

  get type(): CelType {
    return TYPE
  }

  equals(other: CelValue): boolean {
    return other instanceof TypeValue && runtimeTypeName(this.named) === runtimeTypeName(other.named)
  }
}

export function valueType(value: CelValue): CelType {
  switch (typeof value) {
    case 'string':
      return STRING
    case 'boolean':
      return BOOL
    case 'bigint':
      return INT
    case 'number':
      return Number.isSafeInteger(value) ? INT : DOUBLE
    default:
      if (value === null) return NULL
      if (value instanceof Boxed || value instanceof ListValue || value instanceof MapValue) return value.type
      return Array.isArray(value) ? LIST : MAP
  }
}

/** Whether a value can stand where a type is wanted; what lists, maps and optionals hold is not looked at. */
export function isOfType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'parameter':
      return true
    case 'string':
      return typeof value === 'string'
    case 'object':
    case 'map': {
      const { kind } = valueType(value)
      return kind === 'map' || kind === 'object'
    }
    case 'opaque': {
      const found = valueType(value)
      return found.kind === 'opaque' && found.name === type.name
    }
    default:
      return valueType(value).kind === type.kind
  }
}
