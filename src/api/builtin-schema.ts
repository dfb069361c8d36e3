/** Thread: any. The schema of every built-in type, read from the generated tables as types are asked for. */
import { PACKAGES, TYPES } from './generated/types.js'
import type {
  FieldPresence,
  FieldSchema,
  FieldWire,
  ListSchema,
  ScalarKind,
  ScalarSchema,
  SchemaSource,
  StructSchema,
  TypeSchema,
} from './schema.js'
import { DOCUMENTED_ZEROS } from './zero-values.js'

type DefinitionExtras = {
  atomic?: boolean
  unpublished?: boolean
  kinds?: [string, string, string][]
  unions?: unknown
}
type FieldExtras = {
  default?: unknown
  enum?: string[]
  itemEnum?: string[]
  listType?: 'atomic' | 'set' | 'map'
  listKeys?: string[]
  mapType?: 'atomic' | 'granular'
  patchStrategy?: string
  patchMergeKey?: string
}
type FieldRow = [name: string, type: string, wire: string, flags: string, extras?: FieldExtras]
type PackageTable = Record<string, [extras: DefinitionExtras | 0, ...fields: FieldRow[]]>

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
const SCALAR_DEFINITIONS: ReadonlyMap<string, ScalarKind> = new Map([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'quantity'],
  [`${META}.Time`, 'time'],
  [`${META}.MicroTime`, 'micro-time'],
  [`${META}.Duration`, 'duration'],
  [`${META}.FieldsV1`, 'any'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'int-or-string'],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'any'],
])

const NO_EXTRAS: FieldExtras = {}
const NO_STRINGS: readonly string[] = []

/** Fields are made on first use: types refer to each other in circles, and most are never asked for. */
class BuiltinStruct implements StructSchema {
  readonly kind = 'struct'
  readonly name: string
  readonly atomic: boolean
  readonly preserveUnknown = false
  readonly unpublished: boolean
  readonly kinds: readonly (readonly [string, string, string])[]
  readonly unions: unknown
  readonly #make: () => ReadonlyMap<string, FieldSchema>
  #fields: ReadonlyMap<string, FieldSchema> | undefined

  constructor(name: string, extras: DefinitionExtras, make: () => ReadonlyMap<string, FieldSchema>) {
    this.name = name
    this.atomic = extras.atomic ?? false
    this.unpublished = extras.unpublished ?? false
    this.kinds = extras.kinds ?? []
    this.unions = extras.unions
    this.#make = make
  }

  get fields(): ReadonlyMap<string, FieldSchema> {
    this.#fields ??= this.#make()
    return this.#fields
  }

  /** The same type where the field that holds it says otherwise. */
  withAtomic(atomic: boolean): BuiltinStruct {
    const extras = { atomic, unpublished: this.unpublished, kinds: [...this.kinds] as [string, string, string][] }
    return new BuiltinStruct(this.name, { ...extras, unions: this.unions }, () => this.fields)
  }
}

export class BuiltinSchemas implements SchemaSource {
  readonly #tables = new Map<string, PackageTable>()
  readonly #structs = new Map<string, BuiltinStruct>()
  readonly #scalars = new Map<string, ScalarSchema>()

  definition(name: string): StructSchema | ScalarSchema | undefined {
    const scalar = SCALAR_DEFINITIONS.get(name)
    if (scalar !== undefined) return this.#scalar(scalar === 'any' ? `any:${afterDot(name)}` : scalar)
    return this.#struct(name)
  }

  kind(group: string, version: string, kind: string): StructSchema | undefined {
    const home = PACKAGES.get(`${group}/${version}`)
    const own = home === undefined ? undefined : this.#struct(`${home}.${kind}`)
    if (own?.fields.has('apiVersion')) return own
    // DeleteOptions, WatchEvent and the like are served in every group; CreateOptions and its kin nobody publishes.
    const shared = this.#struct(`${META}.${kind}`)
    if (shared === undefined) return undefined
    const everywhere = shared.unpublished && shared.fields.has('apiVersion')
    return everywhere || shared.kinds.some(([g, v]) => g === group && v === version) ? shared : undefined
  }

  /** Names of every definition of one API package, io.k8s.api.core.v1. */
  definitionNames(packageName: string): string[] {
    const table = this.#table(packageName)
    return table === undefined ? [] : Object.keys(table).map((name) => `${packageName}.${name}`)
  }

  packageNames(): string[] {
    return [...TYPES.keys()]
  }

  #table(packageName: string): PackageTable | undefined {
    let table = this.#tables.get(packageName)
    if (table === undefined) {
      const text = TYPES.get(packageName)
      if (text === undefined) return undefined
      table = JSON.parse(text) as PackageTable
      this.#tables.set(packageName, table)
    }
    return table
  }

  #struct(name: string): BuiltinStruct | undefined {
    const known = this.#structs.get(name)
    if (known !== undefined) return known
    const home = beforeDot(name)
    const table = this.#table(home)
    const local = afterDot(name)
    if (table === undefined || !Object.hasOwn(table, local)) return undefined
    const [extras, ...rows] = table[local]!
    const struct = new BuiltinStruct(name, extras === 0 ? {} : extras, () => {
      return new Map(rows.map((row) => [row[0], this.#field(row, home)]))
    })
    this.#structs.set(name, struct)
    return struct
  }

  #field([name, typeText, wire, flags, given]: FieldRow, home: string): FieldSchema {
    const extras = given ?? NO_EXTRAS
    const type = this.#fieldType(typeText, home, extras)
    const zero = flags.includes('d') ? DOCUMENTED_ZEROS[type.kind] : undefined
    return {
      name,
      type,
      required: flags.includes('r'),
      enum: extras.enum,
      default: extras.default ?? zero,
      patchStrategies: extras.patchStrategy?.split(',') ?? NO_STRINGS,
      ...(extras.itemEnum === undefined ? {} : { itemEnum: extras.itemEnum }),
      presence: presence(flags),
      ...(wire === '' ? {} : { wire: wireOf(wire, flags) }),
    }
  }

  /** The tags of a field belong to the list, map or struct that it holds, not to what is inside. */
  #fieldType(text: string, home: string, extras: FieldExtras): TypeSchema {
    const plain = this.#type(text, home)
    if (plain.kind === 'list') return { ...plain, ...listTags(extras) }
    if (plain.kind === 'map' && extras.mapType === 'atomic') return { ...plain, atomic: true }
    if (plain instanceof BuiltinStruct && extras.mapType !== undefined)
      return plain.withAtomic(extras.mapType === 'atomic')
    return plain
  }

  #type(text: string, home: string): TypeSchema {
    if (text.startsWith('[]')) return { kind: 'list', items: this.#type(text.slice(2), home), ...listTags(NO_EXTRAS) }
    if (text.startsWith('{}')) return { kind: 'map', values: this.#type(text.slice(2), home), atomic: false }
    const isReference = text.includes('.') || /^[A-Z]/.test(text)
    if (!isReference) return text.startsWith('any:JSONSchemaProps') ? this.#schemaOr(text, home) : this.#scalar(text)
    const struct = this.#struct(text.includes('.') ? text : `${home}.${text}`)
    if (struct === undefined) throw new Error(`the generated tables lack ${text}, named in ${home}`)
    return struct
  }

  /** A JSON schema, or something simpler in its place. */
  #schemaOr(text: string, home: string): ScalarSchema {
    const objects = this.#struct(`${home}.JSONSchemaProps`)
    return objects === undefined ? this.#scalar(text) : { ...this.#scalar(text), objects }
  }

  #scalar(text: string): ScalarSchema {
    let scalar = this.#scalars.get(text)
    if (scalar === undefined) {
      const [kind, name] = text.split(':') as [ScalarKind, string | undefined]
      scalar = name === undefined ? { kind } : { kind, name }
      this.#scalars.set(text, scalar)
    }
    return scalar
  }
}

function listTags(extras: FieldExtras): Omit<ListSchema, 'kind' | 'items'> {
  return {
    listType: extras.listType ?? 'atomic',
    mapKeys: extras.listKeys ?? NO_STRINGS,
    untagged: extras.listType === undefined,
    patchStrategy: extras.patchStrategy?.split(',').includes('merge') ? 'merge' : 'replace',
    patchMergeKey: extras.patchMergeKey,
  }
}

/** There are few combinations; every field shares its own. */
const presences = new Map<string, FieldPresence>()
function presence(flags: string): FieldPresence {
  const key = flags.replace(/[^pez]/g, '')
  let found = presences.get(key)
  if (found === undefined) {
    found = { pointer: key.includes('p'), omitEmpty: key.includes('e'), omitZero: key.includes('z') }
    presences.set(key, found)
  }
  return found
}

const wireOf = (wire: string, flags: string): FieldWire => ({
  path: wire.split('.').map(Number),
  wrapped: flags.includes('w'),
})

const beforeDot = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf('.')))
const afterDot = (name: string): string => name.slice(name.lastIndexOf('.') + 1)
