/** Thread: any. Types that the checker of expressions knows. What it cannot tell is `dyn`, about which nothing is wrong. */

export type CelType =
  | { readonly kind: ScalarType }
  | { readonly kind: 'list'; readonly of: CelType }
  | { readonly kind: 'map'; readonly of: CelType }
  | { readonly kind: 'optional'; readonly of: CelType }
  /** Has these fields and no others. */
  | { readonly kind: 'object'; readonly name: string; readonly fields: ReadonlyMap<string, CelType> }
  /** Of Kubernetes' own libraries: known by its functions. */
  | { readonly kind: 'opaque'; readonly name: OpaqueType }

export type ScalarType =
  | 'dyn'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'type'

export type OpaqueType =
  | 'url'
  | 'ip'
  | 'cidr'
  | 'quantity'
  | 'semver'
  | 'format'
  | 'authorizer'
  | 'authorizer.path'
  | 'authorizer.group'
  | 'authorizer.resource'
  | 'authorizer.decision'

export const DYN: CelType = { kind: 'dyn' }
export const BOOL: CelType = { kind: 'bool' }
export const INT: CelType = { kind: 'int' }
export const STRING: CelType = { kind: 'string' }
export const scalar = (kind: ScalarType): CelType => ({ kind })
export const opaque = (name: OpaqueType): CelType => ({ kind: 'opaque', name })
export const listOf = (of: CelType): CelType => ({ kind: 'list', of })
export const mapOf = (of: CelType): CelType => ({ kind: 'map', of })
export const optionalOf = (of: CelType): CelType => ({ kind: 'optional', of })
export const objectOf = (name: string, fields: Readonly<Record<string, CelType>>): CelType => ({
  kind: 'object',
  name,
  fields: new Map(Object.entries(fields)),
})

export const nameOf = (type: CelType): string => {
  switch (type.kind) {
    case 'list':
    case 'map':
    case 'optional':
      return `${type.kind}(${nameOf(type.of)})`
    case 'object':
    case 'opaque':
      return type.name
    default:
      return type.kind
  }
}

const NUMBERS = new Set(['int', 'uint', 'double'])
export const isNumber = ({ kind }: CelType): boolean => NUMBERS.has(kind)

/** Whether a value may be of both. Null goes with everything that is not a plain value. */
export function canBeSame(a: CelType, b: CelType): boolean {
  if (a.kind === 'dyn' || b.kind === 'dyn') return true
  if (a.kind === 'null' || b.kind === 'null') {
    const other = a.kind === 'null' ? b : a
    return ['null', 'object', 'opaque', 'timestamp', 'duration', 'optional'].includes(other.kind)
  }
  if (a.kind !== b.kind) return false
  if ((a.kind === 'list' || a.kind === 'map' || a.kind === 'optional') && a.kind === b.kind)
    return canBeSame(a.of, b.of)
  if (a.kind === 'object' || a.kind === 'opaque') return nameOf(a) === nameOf(b)
  return true
}
