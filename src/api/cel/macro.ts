/** Thread: any. Macros: calls that become other expressions before anything is checked. */
import type { Call, Comprehension, Expression, ListLiteral, Literal, MapLiteral, Select } from './syntax.js'
import type { CelValue } from './values/value.js'

/** Makes nodes for a macro; all of them stand where the macro was called. */
export interface ExpressionFactory {
  literal(value: CelValue): Literal
  identifier(name: string): Expression
  call(name: string, ...args: readonly Expression[]): Call
  memberCall(name: string, target: Expression, ...args: readonly Expression[]): Call
  list(...items: readonly Expression[]): ListLiteral
  map(...entries: readonly (readonly [Expression, Expression])[]): MapLiteral
  select(operand: Expression, field: string, test?: boolean): Select
  comprehension(parts: Omit<Comprehension, 'kind' | 'id' | 'at'>): Comprehension
  /** The same expression once more, for a macro that needs it in two places. */
  copy(expression: Expression): Expression
  /** What is wrong with the call, at a node of it. */
  error(message: string, at: Expression): MacroError
}

export class MacroError {
  readonly message: string
  readonly at: number

  constructor(message: string, at: number) {
    this.message = message
    this.at = at
  }
}

export interface Macro {
  readonly name: string
  /** Whether it is called on something: `list.all(...)`, not `has(...)`. */
  readonly member: boolean
  readonly arity: number
  /** Undefined: this call is none of the macro's, and stays a call. */
  readonly expand: (
    make: ExpressionFactory,
    args: readonly Expression[],
    target: Expression | undefined,
  ) => Expression | MacroError | undefined
}
