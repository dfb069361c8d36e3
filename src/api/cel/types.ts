/**
 * Thread: any. The types of expressions: those of the Common Expression Language, and what Kubernetes says about a value
 * beside its type (how long it can become, whether it may be null, which text it is kept in).
 *
 * A type is plain data and immutable. Two types are the same when their kinds, names and parameters are (`sameType`); what
 * is *declared* about a value beside that (`Declared`) never decides whether an expression is right, only what it can cost
 * (src/api/cel/cost) and how values are read out of JSON (src/api/cel/values).
 *
 * Whoever makes types from a schema (src/apiextensions/schema for structural schemas) sets, as Kubernetes' SchemaDeclType
 * does: `maxElements` of strings, bytes, dates, durations, lists, maps and int-or-string values, `minSerializedSize` of
 * objects, `nullable`, `format`, `listType` with `keys`, and names objects by their path (`selfType123.spec.items.@idx`).
 */

/** What a schema says about a value, beside its type. */
export interface Declared {
  /** Most characters of a string, bytes, items of a list, entries of a map. Without it the cost is not bounded. */
  readonly maxElements?: number
  /** The fewest bytes that such a value takes in JSON; constructors below know those of scalars, lists and maps. */
  readonly minSerializedSize?: number
  /** Whether null may stand for a value: in lists and maps it is then null, otherwise an error. Fields: absent. */
  readonly nullable?: boolean
}

export type ScalarKind = 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'null' | 'timestamp' | 'duration'

export interface ScalarType extends Declared {
  readonly kind: ScalarKind
  /** Of a timestamp, the text it is kept in; `date-time` when not said. */
  readonly format?: 'date' | 'date-time'
}

/** Values that can be of any type. `any` behaves as `dyn` and has another name in messages. */
export interface DynType extends Declared {
  readonly kind: 'dyn' | 'any'
  /** Only whole numbers and strings are values of it. */
  readonly format?: 'int-or-string'
}

export interface ListType extends Declared {
  readonly kind: 'list'
  readonly element: CelType
  /** As in x-kubernetes-list-type: sets and maps are equal in any order, and `+` unites them. */
  readonly listType?: 'atomic' | 'set' | 'map'
  /** Properties (not escaped) by which items of a list of type `map` are told apart. */
  readonly keys?: readonly string[]
}

export interface MapType extends Declared {
  readonly kind: 'map'
  readonly key: CelType
  readonly value: CelType
}

export interface ObjectField {
  readonly type: CelType
  readonly required: boolean
  /** The name in JSON. Expressions write the escaped one (`escapeName`), under which it is found in `fields`. */
  readonly property: string
}

export interface ObjectType extends Declared {
  readonly kind: 'object'
  /** Objects are of the same type when they have the same name; an environment knows one type of a name. */
  readonly name: string
  /** By escaped name. A Map, so that types may contain themselves when it is filled after they are made. */
  readonly fields: ReadonlyMap<string, ObjectField>
}

/** Types of libraries (kubernetes.Quantity, net.IP, ...) and optional_type(T). */
export interface OpaqueType extends Declared {
  readonly kind: 'opaque'
  readonly name: string
  readonly parameters: readonly CelType[]
}

/** The type of a type: `int` in an expression is a value of type(int). */
export interface TypeType extends Declared {
  readonly kind: 'type'
  readonly of?: CelType
}

/** Stands for any one type in the declaration of a function, and for an unknown one while expressions are checked. */
export interface TypeParameter extends Declared {
  readonly kind: 'parameter'
  readonly name: string
}

/** What an expression has that could not be typed; an error has been reported, and nothing more is said about it. */
interface ErrorType extends Declared {
  readonly kind: 'error'
}

export type CelType =
  | ScalarType
  | DynType
  | ListType
  | MapType
  | ObjectType
  | OpaqueType
  | TypeType
  | TypeParameter
  | ErrorType

const MIN_STRING_SIZE = 2
const MIN_CONTAINER_SIZE = 2

export const BOOL: ScalarType = { kind: 'bool', minSerializedSize: 4 }
export const INT: ScalarType = { kind: 'int', minSerializedSize: 1 }
export const UINT: ScalarType = { kind: 'uint', minSerializedSize: 1 }
export const DOUBLE: ScalarType = { kind: 'double', minSerializedSize: 1 }
export const STRING: ScalarType = { kind: 'string', minSerializedSize: MIN_STRING_SIZE }
export const BYTES: ScalarType = { kind: 'bytes', minSerializedSize: MIN_STRING_SIZE }
export const NULL: ScalarType = { kind: 'null', minSerializedSize: 4 }
/** "0" is a duration. */
export const DURATION: ScalarType = { kind: 'duration', minSerializedSize: 3 }
export const TIMESTAMP: ScalarType = { kind: 'timestamp', format: 'date-time', minSerializedSize: 21 }
export const DATE: ScalarType = { kind: 'timestamp', format: 'date', minSerializedSize: 12 }
export const DYN: DynType = { kind: 'dyn', minSerializedSize: 1 }
export const ANY: DynType = { kind: 'any', minSerializedSize: 1 }
export const INT_OR_STRING: DynType = { kind: 'dyn', format: 'int-or-string', minSerializedSize: 1 }
export const TYPE: TypeType = { kind: 'type' }
export const ERROR: ErrorType = { kind: 'error' }

export type ListLimits = Declared & Pick<ListType, 'listType' | 'keys'>

export const listOf = (element: CelType, declared: ListLimits = {}): ListType => ({
  kind: 'list',
  element,
  minSerializedSize: MIN_CONTAINER_SIZE,
  ...declared,
})

export const mapOf = (key: CelType, value: CelType, declared: Declared = {}): MapType => ({
  kind: 'map',
  key,
  value,
  minSerializedSize: MIN_CONTAINER_SIZE,
  ...declared,
})

/** An object type; its fields by escaped name, as `field` makes them. */
export const objectOf = (
  name: string,
  fields: ReadonlyMap<string, ObjectField> | Readonly<Record<string, CelType>>,
  declared: Declared = {},
): ObjectType => ({
  kind: 'object',
  name,
  fields: fields instanceof Map ? fields : fieldsOf(fields as Readonly<Record<string, CelType>>),
  minSerializedSize: MIN_CONTAINER_SIZE,
  ...declared,
})

/** Fields that are written as they are called. */
const fieldsOf = (types: Readonly<Record<string, CelType>>): ReadonlyMap<string, ObjectField> =>
  new Map(Object.entries(types).map(([name, type]) => [name, { type, required: false, property: name }]))

export const opaque = (name: string, ...parameters: readonly CelType[]): OpaqueType => ({
  kind: 'opaque',
  name,
  parameters,
})

const OPTIONAL = 'optional_type'

export const optionalOf = (type: CelType): OpaqueType => opaque(OPTIONAL, type)

/** What an optional type may hold; undefined for all others. */
export const optionalContent = (type: CelType): CelType | undefined =>
  type.kind === 'opaque' && type.name === OPTIONAL ? type.parameters[0] : undefined

export const typeOf = (of: CelType): TypeType => ({ kind: 'type', of })

export const parameter = (name: string): TypeParameter => ({ kind: 'parameter', name })

/** As messages name a type: `map(string, list(int))`. */
export function typeName(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${typeName(type.element)})`
    case 'map':
      return `map(${typeName(type.key)}, ${typeName(type.value)})`
    case 'object':
    case 'parameter':
      return type.name
    case 'opaque':
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(typeName).join(', ')})`
    case 'type':
      return type.of === undefined ? 'type' : `type(${typeName(type.of)})`
    case 'error':
      return '!error!'
    default:
      return type.kind
  }
}

/** Whether two types are one, whatever is declared about their values. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  switch (a.kind) {
    case 'list':
      return b.kind === 'list' && sameType(a.element, b.element)
    case 'map':
      return b.kind === 'map' && sameType(a.key, b.key) && sameType(a.value, b.value)
    case 'object':
    case 'parameter':
      return b.kind === a.kind && a.name === b.name
    case 'opaque':
      return b.kind === 'opaque' && a.name === b.name && sameTypes(a.parameters, b.parameters)
    case 'type':
      return b.kind === 'type' && (a.of === undefined ? b.of === undefined : b.of !== undefined && sameType(a.of, b.of))
    default:
      return a.kind === b.kind
  }
}

const sameTypes = (a: readonly CelType[], b: readonly CelType[]): boolean =>
  a.length === b.length && a.every((one, i) => sameType(one, b[i]!))
