/** Thread: any. Expressions of the Common Expression Language as trees. */

export type Expression =
  | { readonly op: 'literal'; readonly type: LiteralType; readonly value: unknown; readonly at: number }
  | { readonly op: 'name'; readonly name: string; readonly at: number }
  | {
      readonly op: 'select'
      readonly of: Expression
      readonly field: string
      readonly optional: boolean
      readonly at: number
    }
  | {
      readonly op: 'index'
      readonly of: Expression
      readonly key: Expression
      readonly optional: boolean
      readonly at: number
    }
  | {
      readonly op: 'call'
      readonly target: Expression | undefined
      readonly name: string
      readonly args: readonly Expression[]
      readonly at: number
    }
  | { readonly op: 'list'; readonly items: readonly Expression[]; readonly at: number }
  | { readonly op: 'map'; readonly entries: readonly (readonly [Expression, Expression])[]; readonly at: number }
  | {
      readonly op: 'object'
      readonly type: string
      readonly fields: readonly (readonly [string, Expression])[]
      readonly at: number
    }
  | { readonly op: 'unary'; readonly operator: '!' | '-'; readonly of: Expression; readonly at: number }
  | {
      readonly op: 'binary'
      readonly operator: BinaryOperator
      readonly left: Expression
      readonly right: Expression
      readonly at: number
    }
  | {
      readonly op: 'choice'
      readonly test: Expression
      readonly yes: Expression
      readonly no: Expression
      readonly at: number
    }

export type LiteralType = 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'bool' | 'null'
export type BinaryOperator = '||' | '&&' | '<' | '<=' | '>' | '>=' | '==' | '!=' | 'in' | '+' | '-' | '*' | '/' | '%'

/** Something that cannot be read; `at` is where, in UTF-16 units from the start. */
export class CelSyntaxError extends Error {
  readonly at: number
  constructor(at: number, message: string) {
    super(message)
    this.name = 'CelSyntaxError'
    this.at = at
  }
}
