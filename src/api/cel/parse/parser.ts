/** Thread: any. Source to tree. Macros are expanded as soon as their call is read. */
import { MAX_EXPRESSION_LENGTH, MAX_RECURSION } from '../limits.js'
import { type Macro, MacroError } from '../macro.js'
import { RESERVED } from '../names.js'
import type { SourceError } from '../source-error.js'
import type { Expression, MapEntry, StructField } from '../syntax.js'
import { codePointCount } from '../values/strings.js'
import type { CelValue } from '../values/value.js'
import { NodeFactory } from './factory.js'
import { literalValue } from './literals.js'
import { CelSyntaxError, type Token, tokenize } from './tokens.js'

export interface ParseOptions {
  readonly macros: readonly Macro[]
  /** Whether `a.?b`, `a[?b]` and `?` before entries may be written. */
  readonly optionals: boolean
}

export type Parsed =
  | { readonly tree: Expression; readonly lastId: number }
  | { readonly errors: readonly SourceError[] }

export function parse(source: string, options: ParseOptions): Parsed {
  const size = codePointCount(source)
  if (size > MAX_EXPRESSION_LENGTH) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${MAX_EXPRESSION_LENGTH}`
    return { errors: [{ message, at: -1 }] }
  }
  try {
    const parser = new Parser(tokenize(source), options)
    const tree = parser.whole()
    return parser.errors.length > 0 ? { errors: parser.errors } : { tree, lastId: parser.lastId }
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    return { errors: [{ message: error.message, at: error.at }] }
  }
}

const RELATIONS = new Set(['<', '<=', '>', '>=', '==', '!=', 'in'])
const SUMS = new Set(['+', '-'])
const PRODUCTS = new Set(['*', '/', '%'])
const NUMBERS = new Set(['int', 'double'])

class Parser {
  readonly errors: SourceError[] = []
  readonly #tokens: readonly Token[]
  readonly #options: ParseOptions
  readonly #make = new NodeFactory()
  #index = 0
  /** How many expressions are being read, one inside the other. */
  #nesting = 0
  /** Of what operators, selects and member calls are in: how many of them stand one inside the other. */
  readonly #depths = new Map<Expression, number>()

  constructor(tokens: readonly Token[], options: ParseOptions) {
    this.#tokens = tokens
    this.#options = options
  }

  get lastId(): number {
    return this.#make.lastId
  }

  whole(): Expression {
    const tree = this.#expression()
    if (this.#token.kind !== 'end') throw this.#unexpected('<EOF>')
    return tree
  }

  get #token(): Token {
    return this.#tokens[this.#index]!
  }

  #is(text: string): boolean {
    const { kind, text: found } = this.#token
    return kind === 'operator' && found === text
  }

  #take(text: string): Token | undefined {
    if (!this.#is(text)) return undefined
    const token = this.#token
    this.#index++
    return token
  }

  #expect(text: string): Token {
    const token = this.#take(text)
    if (token === undefined) throw this.#unexpected(`'${text}'`)
    return token
  }

  #unexpected(expecting: string): CelSyntaxError {
    const { text, at, kind } = this.#token
    return new CelSyntaxError(
      `Syntax error: mismatched input '${kind === 'end' ? '<EOF>' : text}' expecting ${expecting}`,
      at,
    )
  }

  /** An operator, a select or a member call is one level deeper than its parts. */
  #operator(tree: Expression, ...parts: readonly Expression[]): Expression {
    return this.#holding(tree, parts, 1)
  }

  #holding<T extends Expression>(tree: T, parts: readonly Expression[], levels = 0): T {
    let depth = 0
    for (const part of parts) depth = Math.max(depth, this.#depths.get(part) ?? 0)
    if (depth + levels > MAX_RECURSION) throw new CelSyntaxError('max recursion depth exceeded', -1)
    if (depth + levels > 0) this.#depths.set(tree, depth + levels)
    return tree
  }

  #call(name: string, at: number, ...args: readonly Expression[]): Expression {
    return { kind: 'call', ...this.#make.node(at), name, args }
  }

  #expression(): Expression {
    this.#nesting++
    if (this.#nesting > MAX_RECURSION)
      throw new CelSyntaxError(`expression recursion limit exceeded: ${MAX_RECURSION}`, -1)
    let tree = this.#logical('||', '_||_')
    const question = this.#take('?')
    if (question !== undefined) {
      const yes = this.#logical('||', '_||_')
      this.#expect(':')
      const no = this.#expression()
      tree = this.#operator(this.#call('_?_:_', question.at, tree, yes, no), tree, yes, no)
    }
    this.#nesting--
    return tree
  }

  /** Terms of one operator become a tree that is as flat as it can be. */
  #logical(operator: '||' | '&&', name: string): Expression {
    const next = (): Expression => (operator === '||' ? this.#logical('&&', '_&&_') : this.#relation())
    const terms = [next()]
    const places: number[] = []
    for (let token = this.#take(operator); token !== undefined; token = this.#take(operator)) {
      places.push(token.at)
      terms.push(next())
    }
    return this.#balance(name, terms, places, 0, places.length - 1)
  }

  #balance(
    name: string,
    terms: readonly Expression[],
    places: readonly number[],
    low: number,
    high: number,
  ): Expression {
    if (places.length === 0) return terms[0]!
    const middle = Math.floor((low + high + 1) / 2)
    const left = middle === low ? terms[middle]! : this.#balance(name, terms, places, low, middle - 1)
    const right = middle === high ? terms[middle + 1]! : this.#balance(name, terms, places, middle + 1, high)
    return this.#holding(this.#call(name, places[middle]!, left, right), [left, right])
  }

  #chain(operators: ReadonlySet<string>, next: () => Expression): Expression {
    let tree = next()
    while (this.#token.kind === 'operator' && operators.has(this.#token.text)) {
      const { text, at } = this.#token
      this.#index++
      const right = next()
      tree = this.#operator(this.#call(text === 'in' ? '@in' : `_${text}_`, at, tree, right), tree, right)
    }
    return tree
  }

  #relation(): Expression {
    return this.#chain(RELATIONS, () => this.#sum())
  }

  #sum(): Expression {
    return this.#chain(SUMS, () => this.#product())
  }

  #product(): Expression {
    return this.#chain(PRODUCTS, () => this.#unary())
  }

  #unary(): Expression {
    const { text, at } = this.#token
    const isMinus = this.#is('-')
    if (!this.#is('!') && !isMinus) return this.#member()
    if (isMinus && NUMBERS.has(this.#tokens[this.#index + 1]!.kind)) return this.#member()
    let count = 0
    while (this.#take(text) !== undefined) count++
    const operand = this.#member()
    return count % 2 === 0 ? operand : this.#holding(this.#call(isMinus ? '-_' : '!_', at, operand), [operand])
  }

  #member(): Expression {
    let tree = this.#primary()
    for (;;) {
      const dot = this.#take('.')
      const bracket = dot === undefined ? this.#take('[') : undefined
      if (dot === undefined && bracket === undefined) return tree
      tree = dot === undefined ? this.#indexed(tree, bracket!.at) : this.#selected(tree, dot.at)
    }
  }

  #optionalMark(): boolean {
    const mark = this.#take('?')
    if (mark !== undefined && !this.#options.optionals)
      this.errors.push({ message: "unsupported syntax '?'", at: mark.at })
    return mark !== undefined
  }

  #indexed(operand: Expression, at: number): Expression {
    const optional = this.#optionalMark()
    const key = this.#expression()
    this.#expect(']')
    return this.#operator(this.#call(optional ? '_[?_]' : '_[_]', at, operand, key), operand, key)
  }

  #selected(operand: Expression, at: number): Expression {
    const optional = this.#optionalMark()
    const field = this.#field()
    const open = optional ? undefined : this.#take('(')
    if (open !== undefined) {
      const args = this.#arguments(')')
      return this.#operator(this.#called(field.text, open.at, args, operand), operand, ...args)
    }
    if (!optional) {
      const select: Expression = { kind: 'select', ...this.#make.node(at), operand, field: field.text, test: false }
      return this.#operator(select, operand)
    }
    const name: Expression = { kind: 'literal', ...this.#make.node(field.at), value: field.text }
    return this.#operator(this.#call('_?._', at, operand, name), operand)
  }

  /** The name of a field. Kubernetes does not take quoted ones. */
  #field(): Token {
    const token = this.#token
    if (token.kind !== 'quoted') return this.#identifier()
    this.errors.push({ message: "unsupported syntax: '`'", at: token.at })
    this.#index++
    return token
  }

  #identifier(): Token {
    const token = this.#token
    if (token.kind !== 'identifier' || token.text === 'true' || token.text === 'false' || token.text === 'null')
      throw this.#unexpected('IDENTIFIER')
    this.#index++
    return token
  }

  #arguments(close: string): Expression[] {
    const args: Expression[] = []
    while (!this.#is(close)) {
      args.push(this.#expression())
      if (this.#take(',') === undefined) break
      if (this.#is(close)) throw this.#unexpected('an expression')
    }
    this.#expect(close)
    return args
  }

  #called(name: string, at: number, args: readonly Expression[], target?: Expression): Expression {
    for (const macro of this.#options.macros) {
      if (macro.name !== name || macro.arity !== args.length || macro.member !== (target !== undefined)) continue
      this.#make.at = at
      const expanded = macro.expand(this.#make, args, target)
      if (expanded instanceof MacroError) this.errors.push(expanded)
      else if (expanded !== undefined) return expanded
    }
    return { kind: 'call', ...this.#make.node(at), name, args, ...(target !== undefined && { target }) }
  }

  #literal(value: CelValue, at: number): Expression {
    return { kind: 'literal', ...this.#make.node(at), value }
  }

  #primary(): Expression {
    const token = this.#token
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
      case 'string':
      case 'bytes':
        this.#index++
        return this.#literal(literalValue(token, false), token.at)
      case 'identifier':
        return this.#named('')
      case 'quoted':
      case 'operator':
        return this.#enclosed(token)
      case 'end':
        throw this.#unexpected(
          "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
        )
    }
  }

  #enclosed(token: Token): Expression {
    this.#index++
    switch (token.text) {
      case '(': {
        const tree = this.#expression()
        this.#expect(')')
        return tree
      }
      case '-': {
        const number = this.#token
        if (!NUMBERS.has(number.kind)) throw this.#unexpected('{NUM_FLOAT, NUM_INT}')
        this.#index++
        return this.#literal(literalValue(number, true), token.at)
      }
      case '[':
        return this.#list(token.at)
      case '{':
        return this.#map(token.at)
      case '.':
        return this.#named('.')
      default:
        this.#index--
        throw new CelSyntaxError(
          `Syntax error: extraneous input '${token.text}' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
          token.at,
        )
    }
  }

  /** A name, a call, or a message: all begin with an identifier. */
  #named(dot: '' | '.'): Expression {
    const token = this.#token
    if (dot === '' && (token.text === 'true' || token.text === 'false' || token.text === 'null')) {
      this.#index++
      return this.#literal(token.text === 'null' ? null : token.text === 'true', token.at)
    }
    const struct = this.#structName()
    if (struct !== undefined) return this.#struct(dot + struct)
    const { text, at } = this.#identifier()
    if (RESERVED.has(text)) throw new CelSyntaxError(`reserved identifier: ${text}`, at)
    const open = this.#take('(')
    if (open !== undefined) {
      const args = this.#arguments(')')
      return this.#holding(this.#called(dot + text, open.at, args), args)
    }
    return { kind: 'identifier', ...this.#make.node(at), name: dot + text }
  }

  /** The name before a brace, when there is one: `Object.spec {`. */
  #structName(): string | undefined {
    let i = this.#index
    const parts: string[] = []
    for (;;) {
      const token = this.#tokens[i]!
      if (token.kind !== 'identifier') return undefined
      parts.push(token.text)
      const next = this.#tokens[i + 1]!
      if (next.kind !== 'operator' || (next.text !== '.' && next.text !== '{')) return undefined
      if (next.text === '{') {
        this.#index = i + 1
        return parts.join('.')
      }
      i += 2
    }
  }

  #struct(name: string): Expression {
    const { at } = this.#expect('{')
    const fields: StructField[] = []
    while (!this.#is('}')) {
      const optional = this.#optionalMark()
      const field = this.#field().text
      const colon = this.#expect(':')
      fields.push({ ...this.#make.node(colon.at), name: field, value: this.#expression(), optional })
      if (this.#take(',') === undefined) break
    }
    this.#expect('}')
    const struct: Expression = { kind: 'struct', ...this.#make.node(at), name, fields }
    return this.#holding(
      struct,
      fields.map(({ value }) => value),
    )
  }

  #list(at: number): Expression {
    const items: Expression[] = []
    const optional: number[] = []
    while (!this.#is(']')) {
      if (this.#optionalMark()) optional.push(items.length)
      items.push(this.#expression())
      if (this.#take(',') === undefined) break
    }
    this.#expect(']')
    return this.#holding({ kind: 'list', ...this.#make.node(at), items, optional }, items)
  }

  #map(at: number): Expression {
    const entries: MapEntry[] = []
    while (!this.#is('}')) {
      const optional = this.#optionalMark()
      const key = this.#expression()
      const colon = this.#expect(':')
      entries.push({ ...this.#make.node(colon.at), key, value: this.#expression(), optional })
      if (this.#take(',') === undefined) break
    }
    this.#expect('}')
    const map: Expression = { kind: 'map', ...this.#make.node(at), entries }
    return this.#holding(
      map,
      entries.flatMap(({ key, value }) => [key, value]),
    )
  }
}
