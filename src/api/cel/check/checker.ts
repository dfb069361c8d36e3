/** Thread: any. Types of all parts of an expression, which overloads its calls can mean, and what is wrong with it. */
import type { Environment } from '../environment.js'
import type { FunctionDeclaration, Overload } from '../function-declaration.js'
import { fieldNamed } from '../names.js'
import type { SourceError } from '../source-error.js'
import type { Call, Comprehension, Expression, ListLiteral, MapLiteral, Select, StructLiteral } from '../syntax.js'
import {
  BOOL,
  type CelType,
  DYN,
  ERROR,
  INT,
  listOf,
  mapOf,
  optionalContent,
  optionalOf,
  parameter,
  STRING,
  sameType,
  typeName,
} from '../types.js'
import { valueType } from '../values/type-value.js'
import { mostGeneral, renameParameters, Substitution, typeWeight } from './substitution.js'

export interface Checked {
  readonly tree: Expression
  readonly type: CelType
  readonly errors: readonly SourceError[]
  readonly typeOf: (node: Expression) => CelType
  /** Of calls. */
  readonly overloadsOf: (node: Expression) => readonly Overload[]
  /** What a chain of selects or a name stands for when it is a variable of the environment, or a type. */
  readonly referenceOf: (node: Expression) => Reference | undefined
}

export interface Reference {
  readonly name: string
  /** Set when the name is a type. */
  readonly named?: CelType
}

export function check(tree: Expression, environment: Environment): Checked {
  const checker = new Checker(environment)
  const type = checker.check(tree, undefined)
  return {
    tree,
    type: checker.final(type),
    errors: checker.errors,
    typeOf: (node) => checker.final(checker.types.get(node) ?? DYN),
    overloadsOf: (node) => checker.overloads.get(node) ?? [],
    referenceOf: (node) => checker.references.get(node),
  }
}

/** Variables of macros around a node. */
interface Scope {
  readonly name: string
  readonly type: CelType
  readonly outer: Scope | undefined
}

const local = (scope: Scope | undefined, name: string): CelType | undefined => {
  for (let one = scope; one !== undefined; one = one.outer) if (one.name === name) return one.type
  return undefined
}

/** `a.b.c` as one name; undefined when it is something else. */
export function qualifiedName(node: Expression): string | undefined {
  if (node.kind === 'identifier') return node.name
  if (node.kind !== 'select' || node.test) return undefined
  const before = qualifiedName(node.operand)
  return before === undefined ? undefined : `${before}.${node.field}`
}

const rootName = (name: string): string => name.split('.', 1)[0]!
const plainName = (name: string): string => (name.startsWith('.') ? name.slice(1) : name)

/** Types with more parts are refused: macros can double a type with a few characters, `{x: x}`. */
const MAX_TYPE_WEIGHT = 200

class Checker {
  readonly errors: SourceError[] = []
  readonly types = new Map<Expression, CelType>()
  readonly overloads = new Map<Expression, readonly Overload[]>()
  readonly references = new Map<Expression, Reference>()
  readonly #environment: Environment
  readonly #substitution = new Substitution()
  #fresh = 0

  constructor(environment: Environment) {
    this.#environment = environment
  }

  final(type: CelType): CelType {
    return this.#substitution.apply(type, true)
  }

  #wrong(at: number, message: string): CelType {
    this.errors.push({ message, at })
    return ERROR
  }

  #undeclared(at: number, name: string): CelType {
    return this.#wrong(at, `undeclared reference to '${plainName(name)}' (in container '')`)
  }

  #name(type: CelType): string {
    return typeName(this.final(type))
  }

  #newParameter(): CelType {
    this.#fresh++
    return parameter(`_var${this.#fresh}`)
  }

  check(node: Expression, scope: Scope | undefined): CelType {
    const type = this.#check(node, scope)
    const fits = typeWeight(type, MAX_TYPE_WEIGHT) <= MAX_TYPE_WEIGHT
    const kept = fits ? type : this.#wrong(node.at, 'the type of the expression is too large')
    this.types.set(node, kept)
    return kept
  }

  #check(node: Expression, scope: Scope | undefined): CelType {
    switch (node.kind) {
      case 'literal':
        return valueType(node.value)
      case 'identifier':
        return this.#identifier(node, scope)
      case 'select':
        return this.#select(node, scope)
      case 'call':
        return this.#call(node, scope)
      case 'list':
        return this.#list(node, scope)
      case 'map':
        return this.#map(node, scope)
      case 'struct':
        return this.#struct(node, scope)
      case 'comprehension':
        return this.#comprehension(node, scope)
    }
  }

  #identifier(node: Extract<Expression, { kind: 'identifier' }>, scope: Scope | undefined): CelType {
    const found = local(scope, node.name)
    if (found !== undefined) return found
    return this.#reference(node, plainName(node.name)) ?? this.#undeclared(node.at, node.name)
  }

  #reference(node: Expression, name: string): CelType | undefined {
    const type = this.#environment.identifier(name)
    if (type === undefined) return undefined
    const isVariable = this.#environment.variables.has(name)
    this.references.set(node, isVariable || type.kind !== 'type' ? { name } : { name, named: type.of! })
    return type
  }

  #select(node: Select, scope: Scope | undefined): CelType {
    const name = qualifiedName(node)
    if (name !== undefined && local(scope, rootName(name)) === undefined) {
      const type = this.#reference(node, plainName(name))
      if (type !== undefined) return type
    }
    const operand = this.#substitution.apply(this.check(node.operand, scope))
    const type = this.#field(operand, node.field, node.at)
    return node.test ? BOOL : type
  }

  /** The type of a field; of an optional value's field, optional. */
  #field(operand: CelType, field: string, at: number): CelType {
    const content = optionalContent(operand)
    if (content !== undefined) return optionalOf(this.#field(this.#substitution.apply(content), field, at))
    switch (operand.kind) {
      case 'map':
        return operand.value
      case 'object':
        return fieldNamed(operand.fields, field)?.type ?? this.#wrong(at, `undefined field '${field}'`)
      case 'parameter':
        this.#substitution.assign(operand, DYN)
        return DYN
      case 'dyn':
      case 'any':
      case 'error':
        return DYN
      default:
        this.#wrong(at, `type '${this.#name(operand)}' does not support field selection`)
        return DYN
    }
  }

  #call(node: Call, scope: Scope | undefined): CelType {
    if (node.name === '_?._') return this.#optionalSelect(node, scope)
    if (node.target === undefined) {
      const types = node.args.map((arg) => this.check(arg, scope))
      const declaration = this.#environment.functions.get(plainName(node.name))
      return declaration === undefined
        ? this.#undeclared(node.at, node.name)
        : this.#resolve(node, declaration, types, false)
    }
    const namespace = qualifiedName(node.target)
    if (namespace !== undefined && local(scope, rootName(namespace)) === undefined) {
      const declaration = this.#environment.functions.get(`${plainName(namespace)}.${node.name}`)
      if (declaration !== undefined) {
        const types = node.args.map((arg) => this.check(arg, scope))
        return this.#resolve(node, declaration, types, false)
      }
    }
    const types = [node.target, ...node.args].map((arg) => this.check(arg, scope))
    const declaration = this.#environment.functions.get(node.name)
    return declaration === undefined
      ? this.#undeclared(node.at, node.name)
      : this.#resolve(node, declaration, types, true)
  }

  #optionalSelect(node: Call, scope: Scope | undefined): CelType {
    const [operand, field] = node.args as [Expression, Expression]
    const type = this.#substitution.apply(this.check(operand, scope))
    if (field.kind !== 'literal' || typeof field.value !== 'string')
      return this.#wrong(field.at, 'unsupported optional field selection')
    this.types.set(field, STRING)
    const found = this.#field(type, field.value, node.at)
    return optionalContent(found) !== undefined && optionalContent(type) !== undefined ? found : optionalOf(found)
  }

  #resolve(node: Call, declaration: FunctionDeclaration, types: readonly CelType[], member: boolean): CelType {
    if (node.name === '_&&_' || node.name === '_||_') return this.#logic(node, declaration, types)
    const args = types.map((type) => this.#substitution.apply(type))
    const fitting: Overload[] = []
    let result: CelType | undefined
    for (const overload of declaration.overloads) {
      if ((overload.member === true) !== member || overload.parameters.length !== args.length) continue
      this.#fresh++
      const suffix = `#${this.#fresh}`
      const parameters = overload.parameters.map((type) => renameParameters(type, suffix))
      if (!this.#substitution.assignAll(args, parameters)) continue
      fitting.push(overload)
      const given = this.#substitution.apply(renameParameters(overload.result, suffix))
      result = result === undefined || sameType(result, given) ? given : DYN
    }
    if (result === undefined) {
      const names = args.map((type) => this.#name(type))
      const applied = member ? `${names[0]}.(${names.slice(1).join(', ')})` : `(${names.join(', ')})`
      return this.#wrong(
        node.at,
        `found no matching overload for '${plainName(declaration.name)}' applied to '${applied}'`,
      )
    }
    this.overloads.set(node, fitting)
    return result
  }

  #logic(node: Call, { overloads }: FunctionDeclaration, types: readonly CelType[]): CelType {
    let result: CelType = BOOL
    for (const [i, type] of types.entries()) {
      if (this.#substitution.assign(type, BOOL)) continue
      this.#mismatch(node.args[i]!.at, BOOL, type)
      result = ERROR
    }
    this.overloads.set(node, overloads)
    return result
  }

  /** What an item gives to its list: of `?item`, what it holds. */
  #content(node: Expression, scope: Scope | undefined, optional: boolean): CelType {
    const type = this.#substitution.apply(this.check(node, scope))
    if (!optional) return type
    const content = optionalContent(type)
    if (content !== undefined) return content
    if (type.kind !== 'dyn' && type.kind !== 'any') this.#mismatch(node.at, optionalOf(type), type)
    return type
  }

  /** One type for all items. That literals mix no types is looked at when all is typed (validators.ts). */
  #join(before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type
    return this.#substitution.assign(before, type) ? mostGeneral(before, type) : DYN
  }

  #mismatch(at: number, wanted: CelType, found: CelType): CelType {
    return this.#wrong(at, `expected type '${this.#name(wanted)}' but found '${this.#name(found)}'`)
  }

  #list({ items, optional }: ListLiteral, scope: Scope | undefined): CelType {
    const optionals = new Set(optional)
    let element: CelType | undefined
    for (const [i, item] of items.entries()) element = this.#join(element, this.#content(item, scope, optionals.has(i)))
    return listOf(element ?? this.#newParameter())
  }

  #map({ entries }: MapLiteral, scope: Scope | undefined): CelType {
    let [keyType, valueTypeOf]: [CelType | undefined, CelType | undefined] = [undefined, undefined]
    for (const { key, value, optional } of entries) {
      keyType = this.#join(keyType, this.check(key, scope))
      valueTypeOf = this.#join(valueTypeOf, this.#content(value, scope, optional))
    }
    return mapOf(keyType ?? this.#newParameter(), valueTypeOf ?? this.#newParameter())
  }

  #struct({ name, fields, at }: StructLiteral, scope: Scope | undefined): CelType {
    const plain = plainName(name)
    const named = this.#environment.identifier(plain)
    if (named === undefined) return this.#undeclared(at, plain)
    const type = named.kind === 'type' ? named.of! : named
    if (named.kind !== 'type') this.#wrong(at, `'${typeName(type)}' is not a type`)
    else if (type.kind !== 'object') this.#wrong(at, `'${typeName(type)}' is not a message type`)
    for (const field of fields) {
      const given = this.#content(field.value, scope, field.optional)
      if (type.kind !== 'object') continue
      const wanted = type.fields.get(field.name)
      if (wanted === undefined) this.#wrong(field.at, `undefined field '${field.name}'`)
      else if (!this.#substitution.assign(wanted.type, given))
        this.#wrong(
          field.at,
          `expected type of field '${field.name}' is '${this.#name(wanted.type)}' but provided type is '${this.#name(given)}'`,
        )
    }
    return type.kind === 'object' ? type : ERROR
  }

  #comprehension(node: Comprehension, scope: Scope | undefined): CelType {
    const range = this.#substitution.apply(this.check(node.range, scope))
    const accumulator = this.check(node.init, scope)
    const [first, second] = this.#items(range, node.range.at)
    const two = node.variable2 !== undefined
    const outer: Scope = { name: node.accumulator, type: accumulator, outer: scope }
    let inner: Scope = { name: node.variable, type: two || range.kind === 'map' ? first : second, outer }
    if (two) inner = { name: node.variable2!, type: second, outer: inner }
    this.#assert(node.condition, this.check(node.condition, inner), BOOL)
    this.#assert(node.step, this.check(node.step, inner), accumulator)
    return this.#substitution.apply(this.check(node.result, outer))
  }

  /** Types of keys (or indices) and values of what a macro walks over. */
  #items(range: CelType, at: number): [CelType, CelType] {
    switch (range.kind) {
      case 'list':
        return [INT, range.element]
      case 'map':
        return [range.key, range.value]
      case 'parameter':
        this.#substitution.assign(range, DYN)
        return [DYN, DYN]
      case 'dyn':
      case 'error':
        return [DYN, DYN]
      default:
        this.#wrong(
          at,
          `expression of type '${this.#name(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [ERROR, ERROR]
    }
  }

  #assert(node: Expression, type: CelType, wanted: CelType): void {
    if (!this.#substitution.assign(wanted, type)) this.#mismatch(node.at, wanted, type)
  }
}
