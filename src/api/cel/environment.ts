/**
 * Thread: any. What an expression may speak of: functions, macros, variables, and types by their names. Environments are
 * immutable; `extend` gives another one.
 */
import type { FunctionDeclaration, Library, VersionedLibrary } from './function-declaration.js'
import { LIBRARIES } from './library/libraries.js'
import type { Macro } from './macro.js'
import { type CelType, type ObjectType, typeOf } from './types.js'
import { runtimeTypeName } from './values/type-value.js'

/** The minor version that everything written now must be understood by: that before v1.36. */
const COMPATIBILITY_VERSION = 35

export interface Extension {
  readonly variables?: Readonly<Record<string, CelType>>
  /** Object types that expressions may build by name: `Object{...}`. */
  readonly types?: readonly ObjectType[]
  readonly libraries?: readonly Library[]
  /** Finds object types whose names are not known before: `Object.spec.template`. */
  readonly findType?: (name: string) => ObjectType | undefined
}

export class Environment {
  readonly functions: ReadonlyMap<string, FunctionDeclaration>
  readonly macros: readonly Macro[]
  readonly variables: ReadonlyMap<string, CelType>
  readonly #types: ReadonlyMap<string, CelType>
  readonly #findType: (name: string) => ObjectType | undefined

  private constructor(parts: {
    functions: ReadonlyMap<string, FunctionDeclaration>
    macros: readonly Macro[]
    variables: ReadonlyMap<string, CelType>
    types: ReadonlyMap<string, CelType>
    findType: (name: string) => ObjectType | undefined
  }) {
    this.functions = parts.functions
    this.macros = parts.macros
    this.variables = parts.variables
    this.#types = parts.types
    this.#findType = parts.findType
  }

  static readonly EMPTY = new Environment({
    functions: new Map(),
    macros: [],
    variables: new Map(),
    types: new Map(),
    findType: () => undefined,
  })

  /** The type that a name stands for. */
  type(name: string): CelType | undefined {
    return this.#types.get(name) ?? this.#findType(name)
  }

  /** The type of a variable, or type(T) of a name that is a type. */
  identifier(name: string): CelType | undefined {
    const variable = this.variables.get(name)
    if (variable !== undefined) return variable
    const type = this.type(name)
    return type === undefined ? undefined : typeOf(type)
  }

  extend({ variables = {}, types = [], libraries = [], findType }: Extension): Environment {
    const functions = new Map(this.functions)
    const named = new Map(this.#types)
    for (const library of libraries) {
      for (const { name, overloads } of library.functions) {
        const known = functions.get(name)?.overloads ?? []
        const added = overloads.filter(({ id }) => known.every((one) => one.id !== id))
        functions.set(name, { name, overloads: [...known, ...added] })
      }
      for (const type of library.types ?? []) named.set(runtimeTypeName(type), type)
    }
    for (const type of types) named.set(type.name, type)
    return new Environment({
      functions,
      macros: [...this.macros, ...libraries.flatMap(({ macros = [] }) => macros)],
      variables: new Map([...this.variables, ...Object.entries(variables)]),
      types: named,
      findType: findType ?? this.#findType,
    })
  }
}

const isKnown = ({ introduced, removed = Number.POSITIVE_INFINITY }: VersionedLibrary, version: number): boolean =>
  version >= introduced && version < removed

const atVersion = (version: number): Environment =>
  Environment.EMPTY.extend({
    libraries: LIBRARIES.filter((row) => isKnown(row, version)).map(({ library }) => library),
  })

const NEW = atVersion(COMPATIBILITY_VERSION)
const STORED = atVersion(Number.MAX_SAFE_INTEGER)

/** `new`: what may be written now; `stored`: everything, for what is stored already. */
export const baseEnvironment = (use: 'new' | 'stored'): Environment => (use === 'new' ? NEW : STORED)
