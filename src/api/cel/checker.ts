/**
 * Thread: any. What can be told to be wrong with an expression before it runs: names, functions and fields that there are
 * not, operators between types that they do not join, a result of another type than wanted.
 */
import { RE2JS } from 're2js'
import { GLOBAL_FUNCTIONS, MEMBER_FUNCTIONS, memberResult } from './functions.js'
import { dottedName, parseExpression } from './parser.js'
import { type BinaryOperator, CelSyntaxError, type Expression } from './syntax.js'
import {
  BOOL,
  type CelType,
  canBeSame,
  DYN,
  INT,
  isNumber,
  listOf,
  mapOf,
  nameOf,
  optionalOf,
  STRING,
  scalar,
} from './types.js'

export interface CelEnvironment {
  readonly variables: ReadonlyMap<string, CelType>
  /** Names of types that may be built: `Object` stands for all below it. */
  readonly objects?: readonly string[]
}

export interface CheckedExpression {
  /** Empty: it can run. */
  readonly errors: readonly string[]
  readonly type: CelType
  /** Variables of the environment that it speaks of. */
  readonly names: ReadonlySet<string>
}

const TYPE_NAMES = new Set(['int', 'uint', 'double', 'bool', 'string', 'bytes', 'list', 'map', 'null_type', 'type'])
/** Macros that walk over a list or a map: how many names they bind, and what they give. */
const WALKS: ReadonlyMap<string, (of: CelType, body: CelType) => CelType> = new Map([
  ['all', () => BOOL],
  ['exists', () => BOOL],
  ['exists_one', () => BOOL],
  ['existsOne', () => BOOL],
  ['filter', (of: CelType) => (of.kind === 'list' ? of : DYN)],
  ['map', (_of: CelType, body: CelType) => listOf(body)],
  ['transformList', (_of: CelType, body: CelType) => listOf(body)],
  ['transformMap', (_of: CelType, body: CelType) => mapOf(body)],
  ['transformMapEntry', () => DYN],
  ['sortBy', (of: CelType) => of],
])

/** `wanted`: the types that the result may have; any when not given. */
export function checkExpression(
  source: string,
  environment: CelEnvironment,
  wanted?: readonly CelType[],
): CheckedExpression {
  let tree: Expression
  try {
    tree = parseExpression(source)
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    return { errors: [`at ${error.at + 1}: Syntax error: ${error.message}`], type: DYN, names: new Set() }
  }
  const checker = new Checker(environment)
  const type = checker.type(tree, environment.variables)
  const { errors, names } = checker
  if (errors.length === 0 && wanted !== undefined && !wanted.some((one) => canBeSame(one, type)))
    errors.push(`must evaluate to ${wanted.map(nameOf).join(' or ')}, not ${nameOf(type)}`)
  return { errors, type, names }
}

type Scope = ReadonlyMap<string, CelType>

class Checker {
  readonly errors: string[] = []
  readonly names = new Set<string>()
  readonly #environment: CelEnvironment

  constructor(environment: CelEnvironment) {
    this.#environment = environment
  }

  #wrong(at: number, message: string): CelType {
    this.errors.push(`at ${at + 1}: ${message}`)
    return DYN
  }

  type(expression: Expression, scope: Scope): CelType {
    switch (expression.op) {
      case 'literal':
        return scalar(expression.type)
      case 'name':
        return this.#name(expression.name, expression.at, scope)
      case 'select':
        return this.#select(expression, scope)
      case 'index':
        return this.#index(expression, scope)
      case 'call':
        return this.#call(expression, scope)
      case 'list':
        return listOf(this.#common(expression.items.map((item) => this.type(item, scope))))
      case 'map':
        for (const [key] of expression.entries) this.type(key, scope)
        return mapOf(this.#common(expression.entries.map(([, value]) => this.type(value, scope))))
      case 'object':
        return this.#object(expression, scope)
      case 'unary':
        return this.#unary(expression, scope)
      case 'binary':
        return this.#binary(expression, scope)
      case 'choice':
        return this.#choice(expression, scope)
    }
  }

  #common(types: readonly CelType[]): CelType {
    const [first] = types
    return first !== undefined && types.every((one) => nameOf(one) === nameOf(first)) ? first : DYN
  }

  #name(name: string, at: number, scope: Scope): CelType {
    const known = scope.get(name)
    if (known !== undefined) {
      if (this.#environment.variables.get(name) === known) this.names.add(name)
      return known
    }
    if (TYPE_NAMES.has(name)) return scalar('type')
    return this.#wrong(at, `undeclared reference to '${name}'`)
  }

  #select(expression: Extract<Expression, { op: 'select' }>, scope: Scope): CelType {
    const { of, field, optional, at } = expression
    // Some variables have a dot in their name.
    const dotted = scope.get(dottedName(expression) ?? '')
    if (dotted !== undefined) return dotted
    if (dottedName(of) === 'google.protobuf' || (of.op === 'name' && of.name === 'google')) return scalar('type')
    const found = this.#field(this.type(of, scope), field, at)
    return optional && found.kind !== 'optional' ? optionalOf(found) : found
  }

  #field(type: CelType, field: string, at: number): CelType {
    switch (type.kind) {
      case 'dyn':
        return DYN
      case 'map':
        return type.of
      case 'optional':
        return optionalOf(this.#field(type.of, field, at))
      case 'object':
        return type.fields.get(field) ?? this.#wrong(at, `undefined field '${field}'`)
      default:
        return this.#wrong(at, `type '${nameOf(type)}' does not support field selection`)
    }
  }

  #index({ of, key, optional, at }: Extract<Expression, { op: 'index' }>, scope: Scope): CelType {
    const holder = this.type(of, scope)
    const by = this.type(key, scope)
    const inner = holder.kind === 'optional' ? holder.of : holder
    let found: CelType = DYN
    if (inner.kind === 'map') found = inner.of
    else if (inner.kind === 'list') {
      if (!canBeSame(by, INT) && !isNumber(by)) this.#wrong(at, `no matching overload for '_[_]' by ${nameOf(by)}`)
      found = inner.of
    } else if (inner.kind !== 'dyn') return this.#wrong(at, `no matching overload for '_[_]' on ${nameOf(inner)}`)
    return optional || holder.kind === 'optional' ? optionalOf(found) : found
  }

  #call(call: Extract<Expression, { op: 'call' }>, scope: Scope): CelType {
    const { target, name, args, at } = call
    if (target === undefined) return this.#globalCall(name, args, at, scope)
    const namespaced = dottedName(target)
    if (namespaced === 'cel' && name === 'bind' && args.length === 3) return this.#bind(args, at, scope)
    const qualified = namespaced === undefined ? '' : `${namespaced}.${name}`
    if (GLOBAL_FUNCTIONS.has(qualified)) return this.#globalCall(qualified, args, at, scope)
    const walk = WALKS.get(name)
    if (walk !== undefined && args.length >= 2) return this.#walk(walk, target, args, scope)
    const receiver = this.type(target, scope)
    if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2)
      return this.#optionalMap(name, receiver, args, scope)
    for (const arg of args) this.type(arg, scope)
    const result = memberResult(name, receiver)
    if (!MEMBER_FUNCTIONS.has(name)) return this.#wrong(at, `undeclared reference to '${name}'`)
    if (result === undefined)
      return this.#wrong(at, `no matching overload for '${name}' applied to '${nameOf(receiver)}'`)
    this.#pattern(name, args[0])
    return result
  }

  #globalCall(name: string, args: readonly Expression[], at: number, scope: Scope): CelType {
    if (name === 'has') return this.#has(args, at, scope)
    const types = args.map((arg) => this.type(arg, scope))
    const result = GLOBAL_FUNCTIONS.get(name)
    if (result === undefined) return this.#wrong(at, `undeclared reference to '${name}'`)
    this.#pattern(name, args[1])
    return name === 'optional.of' || name === 'optional.ofNonZeroValue' ? optionalOf(types[0] ?? DYN) : result
  }

  #has([field]: readonly Expression[], at: number, scope: Scope): CelType {
    if (field?.op !== 'select') return this.#wrong(at, 'invalid argument to has() macro')
    this.type(field, scope)
    return BOOL
  }

  /** Patterns that stand there can be tried. */
  #pattern(name: string, arg: Expression | undefined): void {
    if (name !== 'matches' || arg?.op !== 'literal' || arg.type !== 'string') return
    try {
      RE2JS.compile(String(arg.value))
    } catch {
      this.#wrong(arg.at, 'invalid matches argument')
    }
  }

  #bind(args: readonly Expression[], at: number, scope: Scope): CelType {
    const [name, value, body] = args as [Expression, Expression, Expression]
    if (name.op !== 'name') return this.#wrong(at, 'cel.bind() variable names must be simple identifiers')
    return this.type(body, new Map([...scope, [name.name, this.type(value, scope)]]))
  }

  #walk(
    result: (of: CelType, body: CelType) => CelType,
    target: Expression,
    args: readonly Expression[],
    scope: Scope,
  ): CelType {
    const of = this.type(target, scope)
    if (!['dyn', 'list', 'map'].includes(of.kind))
      return this.#wrong(target.at, `expression of type '${nameOf(of)}' cannot be range of a comprehension`)
    const inner = new Map(scope)
    const bound = args.findIndex((arg) => arg.op !== 'name' || arg !== args[0])
    const names = args.slice(0, isTwoVariable(args) ? 2 : 1)
    if (bound === 0) return this.#wrong(args[0]!.at, 'argument is not an identifier')
    for (const [i, arg] of names.entries()) {
      if (arg.op !== 'name') return this.#wrong(arg.at, 'argument is not an identifier')
      inner.set(arg.name, elementType(of, i, names.length))
    }
    const bodies = args.slice(names.length).map((arg) => this.type(arg, inner))
    return result(of, bodies.at(-1) ?? DYN)
  }

  #optionalMap(name: string, receiver: CelType, args: readonly Expression[], scope: Scope): CelType {
    const [variable, body] = args as [Expression, Expression]
    if (variable.op !== 'name') return this.#wrong(variable.at, 'argument is not an identifier')
    if (receiver.kind !== 'optional' && receiver.kind !== 'dyn')
      return this.#wrong(variable.at, `no matching overload for '${name}' applied to '${nameOf(receiver)}'`)
    const inside = receiver.kind === 'optional' ? receiver.of : DYN
    const type = this.type(body, new Map([...scope, [variable.name, inside]]))
    return name === 'optMap' ? optionalOf(type) : type
  }

  #object({ type, fields, at }: Extract<Expression, { op: 'object' }>, scope: Scope): CelType {
    for (const [, value] of fields) this.type(value, scope)
    const objects = this.#environment.objects ?? []
    if (!objects.some((name) => type === name || type.startsWith(`${name}.`)))
      return this.#wrong(at, `undeclared reference to '${type}'`)
    return { kind: 'object', name: type, fields: new Map() }
  }

  #unary({ operator, of, at }: Extract<Expression, { op: 'unary' }>, scope: Scope): CelType {
    const type = this.type(of, scope)
    const fits =
      operator === '!' ? canBeSame(type, BOOL) : type.kind === 'dyn' || type.kind === 'int' || type.kind === 'double'
    return fits ? type : this.#wrong(at, `no matching overload for '${operator}_' applied to '${nameOf(type)}'`)
  }

  #choice({ test, yes, no, at }: Extract<Expression, { op: 'choice' }>, scope: Scope): CelType {
    const by = this.type(test, scope)
    const [left, right] = [this.type(yes, scope), this.type(no, scope)]
    if (!canBeSame(by, BOOL)) return this.#wrong(at, `no matching overload for '_?_:_' on '${nameOf(by)}'`)
    if (!canBeSame(left, right))
      return this.#wrong(at, `no matching overload for '_?_:_' between '${nameOf(left)}' and '${nameOf(right)}'`)
    return left.kind === 'dyn' || left.kind === 'null' ? right : left
  }

  #binary({ operator, left, right, at }: Extract<Expression, { op: 'binary' }>, scope: Scope): CelType {
    const [a, b] = [this.type(left, scope), this.type(right, scope)]
    return (
      binaryResult(operator, a, b) ??
      this.#wrong(at, `no matching overload for '_${operator}_' applied to '(${nameOf(a)}, ${nameOf(b)})'`)
    )
  }
}

/** `m.all(k, v, test)`: two names before the body; `m.map(x, test, value)` binds one. */
const isTwoVariable = (args: readonly Expression[]): boolean =>
  args.length >= 3 && args[1]!.op === 'name' && args[0]!.op === 'name' && args[0]!.name !== args[1]!.name

function elementType(of: CelType, i: number, count: number): CelType {
  if (of.kind === 'list') return count === 2 && i === 0 ? INT : of.of
  if (of.kind === 'map') return count === 2 && i === 1 ? of.of : DYN
  return DYN
}

const ORDERED = new Set(['dyn', 'bool', 'string', 'bytes', 'timestamp', 'duration', 'int', 'uint', 'double'])

function binaryResult(operator: BinaryOperator, a: CelType, b: CelType): CelType | undefined {
  switch (operator) {
    case '||':
    case '&&':
      return canBeSame(a, BOOL) && canBeSame(b, BOOL) ? BOOL : undefined
    case '==':
    case '!=':
      return canBeSame(a, b) ? BOOL : undefined
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const comparable = canBeSame(a, b) || (isNumber(a) && isNumber(b))
      return comparable && ORDERED.has(a.kind) && ORDERED.has(b.kind) ? BOOL : undefined
    }
    case 'in':
      return inResult(a, b)
    case '+':
      return sum(a, b)
    case '-':
      return sum(a, b) !== undefined &&
        ![a, b].some(({ kind }) => kind === 'string' || kind === 'list' || kind === 'bytes')
        ? difference(a, b)
        : undefined
    case '*':
    case '/':
    case '%':
      return product(operator, a, b)
  }
}

function inResult(a: CelType, b: CelType): CelType | undefined {
  if (b.kind === 'dyn' || b.kind === 'map') return BOOL
  return b.kind === 'list' && canBeSame(a, b.of) ? BOOL : undefined
}

function sum(a: CelType, b: CelType): CelType | undefined {
  if (a.kind === 'dyn' || b.kind === 'dyn')
    return a.kind === 'dyn' ? (b.kind === 'string' ? STRING : DYN) : a.kind === 'string' ? STRING : DYN
  const kinds = new Set([a.kind, b.kind])
  if (kinds.has('timestamp') && kinds.has('duration')) return scalar('timestamp')
  if (a.kind === 'timestamp' && b.kind === 'timestamp') return scalar('duration')
  const addable = ['int', 'uint', 'double', 'string', 'bytes', 'list', 'duration'].includes(a.kind)
  return addable && canBeSame(a, b) ? a : undefined
}

const difference = (a: CelType, b: CelType): CelType | undefined =>
  a.kind === 'duration' && b.kind === 'timestamp' ? undefined : sum(a, b)

function product(operator: '*' | '/' | '%', a: CelType, b: CelType): CelType | undefined {
  const fits = ({ kind }: CelType): boolean =>
    kind === 'dyn' || kind === 'int' || kind === 'uint' || (kind === 'double' && operator !== '%')
  if (!fits(a) || !fits(b) || !canBeSame(a, b)) return undefined
  return a.kind === 'dyn' ? b : a
}
