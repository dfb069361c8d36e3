/** Thread: any. From the text of an expression to its tree, by the grammar of the language. */
import { type BinaryOperator, CelSyntaxError, type Expression } from './syntax.js'
import { type Token, tokensOf } from './tokens.js'

/** `||` and `&&`, whose operands may be grouped in any way. */
const LOGICAL_LEVELS = 2
const RESERVED = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package'],
  ...['namespace', 'return', 'var', 'void', 'while'],
])
/** Weakest first. All of them bind to the left. */
const LEVELS: readonly (readonly BinaryOperator[])[] = [
  ['||'],
  ['&&'],
  ['<', '<=', '>', '>=', '==', '!=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]
/** As deep as cel-go goes. */
const MAX_DEPTH = 250
/** As long as cel-go goes, in code points. */
const MAX_LENGTH = 100_000
/** Of the tree: chains such as `a.b.c` and `a + b + c` make it high without nesting, and every walk over it recurses. */
const MAX_HEIGHT = 1_000

/** Throws CelSyntaxError. */
export function parseExpression(source: string): Expression {
  // No text has more code points than units.
  if (source.length > MAX_LENGTH && [...source].length > MAX_LENGTH)
    throw new CelSyntaxError(0, `the expression is longer than ${MAX_LENGTH} characters`)
  return new Parser(tokensOf(source)).whole()
}

class Parser {
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0
  /** Of the tree that was read last. */
  #height = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  whole(): Expression {
    const expression = this.#expression()
    if (this.#token.kind !== 'end') throw this.#unexpected('<EOF>')
    return expression
  }

  get #token(): Token {
    return this.#tokens[this.#next]!
  }

  #unexpected(wanted: string): CelSyntaxError {
    const { text, at } = this.#token
    return new CelSyntaxError(at, `mismatched input '${text}' expecting ${wanted}`)
  }

  #take(mark: string): boolean {
    const { kind, text } = this.#token
    if (kind !== 'mark' || text !== mark) return false
    this.#next++
    return true
  }

  /** A tree over one or two that have been read. */
  #grow(left: number, right = 0): number {
    this.#height = 1 + Math.max(left, right)
    if (this.#height > MAX_HEIGHT) throw this.#tooDeep()
    return this.#height
  }

  #tooDeep(): CelSyntaxError {
    return new CelSyntaxError(this.#token.at, 'expression is nested too deeply')
  }

  #expect(mark: string): void {
    if (!this.#take(mark)) throw this.#unexpected(`'${mark}'`)
  }

  #expression(): Expression {
    const { at } = this.#token
    if (++this.#depth > MAX_DEPTH) throw new CelSyntaxError(at, 'expression is nested too deeply')
    const test = this.#binary(0)
    let result = test
    if (this.#take('?')) {
      let height = this.#height
      const yes = this.#binary(0)
      height = Math.max(height, this.#height)
      this.#expect(':')
      result = { op: 'choice', test, yes, no: this.#expression(), at }
      this.#grow(height, this.#height)
    }
    this.#depth--
    return result
  }

  #binary(level: number): Expression {
    const operators = LEVELS[level]
    if (operators === undefined) return this.#unary()
    let left = this.#binary(level + 1)
    const logical = level < LOGICAL_LEVELS ? [{ tree: left, at: 0 }] : undefined
    let height = this.#height
    for (;;) {
      const { text, at, kind } = this.#token
      const operator = kind === 'mark' ? operators.find((one) => one === text) : undefined
      if (operator === undefined) break
      this.#next++
      const right = this.#binary(level + 1)
      if (logical === undefined) {
        left = { op: 'binary', operator, left, right, at }
        height = this.#grow(height, this.#height)
      } else {
        logical.push({ tree: right, at })
        height = Math.max(height, this.#height)
      }
    }
    this.#height = height
    if (logical === undefined || logical.length === 1) return left
    this.#grow(height + Math.ceil(Math.log2(logical.length)) - 1)
    return balanced(operators[0]!, logical)
  }

  #unary(): Expression {
    const { at, text } = this.#token
    const operator = text === '!' || text === '-' ? text : undefined
    if (operator === undefined || !this.#take(operator)) return this.#member()
    if (++this.#depth > MAX_DEPTH) throw new CelSyntaxError(at, 'expression is nested too deeply')
    let of: Expression
    // Only one kind of sign in a row: `!-x` is not in the grammar.
    if (this.#token.kind === 'mark' && this.#token.text === operator) of = this.#unary()
    else of = this.#member()
    this.#depth--
    this.#grow(this.#height)
    return { op: 'unary', operator, of, at }
  }

  #member(): Expression {
    let of = this.#primary()
    let height = this.#height
    for (;;) {
      const { at } = this.#token
      this.#height = 0
      if (this.#take('.')) {
        const optional = this.#take('?')
        const field = this.#fieldName()
        if (!optional && this.#take('(')) of = { op: 'call', target: of, name: field, args: this.#list(')'), at }
        else of = { op: 'select', of, field, optional, at }
      } else if (this.#take('[')) {
        const optional = this.#take('?')
        of = { op: 'index', of, key: this.#expression(), optional, at }
        this.#expect(']')
      } else {
        const type = this.#token.text === '{' ? dottedName(of) : undefined
        if (type === undefined || !this.#take('{')) {
          this.#height = height
          return of
        }
        of = { op: 'object', type, fields: this.#fields(), at }
      }
      height = this.#grow(height, this.#height)
    }
  }

  #fieldName(): string {
    const { kind, text } = this.#token
    if (kind !== 'name' && kind !== 'field') throw this.#unexpected('IDENTIFIER')
    this.#next++
    return text
  }

  #primary(): Expression {
    const { kind, text, at, literal } = this.#token
    this.#height = 1
    if (literal !== undefined) {
      this.#next++
      return { op: 'literal', ...literal, at }
    }
    if (this.#take('(')) {
      const inner = this.#expression()
      this.#expect(')')
      return inner
    }
    if (this.#take('[')) return { op: 'list', items: this.#list(']', true), at }
    if (this.#take('{')) return { op: 'map', entries: this.#entries(), at }
    // A leading dot names the root scope, which is the only one there is.
    const rooted = this.#take('.')
    if (this.#token.kind !== 'name') throw this.#unexpected(rooted ? 'IDENTIFIER' : 'an expression')
    if (kind === 'name' && RESERVED.has(text)) throw new CelSyntaxError(at, `reserved identifier: ${text}`)
    const name = this.#fieldName()
    return this.#take('(')
      ? { op: 'call', target: undefined, name, args: this.#list(')'), at }
      : { op: 'name', name, at }
  }

  #list(end: ')' | ']', isList = false): Expression[] {
    const items: Expression[] = []
    let height = 0
    while (!this.#take(end)) {
      if (items.length > 0) {
        this.#expect(',')
        if (isList && this.#take(end)) break
      }
      if (isList) this.#take('?')
      items.push(this.#expression())
      height = Math.max(height, this.#height)
    }
    this.#grow(height)
    return items
  }

  #entries(): (readonly [Expression, Expression])[] {
    const entries: (readonly [Expression, Expression])[] = []
    let height = 0
    while (!this.#take('}')) {
      if (entries.length > 0) {
        this.#expect(',')
        if (this.#take('}')) break
      }
      this.#take('?')
      const key = this.#expression()
      height = Math.max(height, this.#height)
      this.#expect(':')
      entries.push([key, this.#expression()])
      height = Math.max(height, this.#height)
    }
    this.#grow(height)
    return entries
  }

  #fields(): (readonly [string, Expression])[] {
    const fields: (readonly [string, Expression])[] = []
    let height = 0
    while (!this.#take('}')) {
      if (fields.length > 0) {
        this.#expect(',')
        if (this.#take('}')) break
      }
      this.#take('?')
      const name = this.#fieldName()
      this.#expect(':')
      fields.push([name, this.#expression()])
      height = Math.max(height, this.#height)
    }
    this.#grow(height)
    return fields
  }
}

/** As cel-go does it, so that a long list of conditions makes no high tree. */
function balanced(operator: BinaryOperator, operands: readonly { tree: Expression; at: number }[]): Expression {
  if (operands.length === 1) return operands[0]!.tree
  const middle = operands.length >> 1
  const [left, right] = [operands.slice(0, middle), operands.slice(middle)]
  const { at } = right[0]!
  return { op: 'binary', operator, left: balanced(operator, left), right: balanced(operator, right), at }
}

/** `a.b.c` when it is nothing but names: before a brace it is a type. */
export function dottedName(expression: Expression): string | undefined {
  if (expression.op === 'name') return expression.name
  if (expression.op !== 'select' || expression.optional) return undefined
  const of = dottedName(expression.of)
  return of === undefined ? undefined : `${of}.${expression.field}`
}
