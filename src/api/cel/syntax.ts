/**
 * Thread: any. The tree of an expression after macros were expanded: what the checker types, what costs are estimated of, and
 * what becomes closures. Operators are calls by the names that messages use for them (`_+_`, `_[_]`, `_?_:_`).
 */
import type { CelValue } from './values/value.js'

interface Node {
  /** Unique in a tree. */
  readonly id: number
  /** Where it begins in the source, in UTF-16 units; of an operator, the operator; of a call, its parenthesis. */
  readonly at: number
}

export interface Literal extends Node {
  readonly kind: 'literal'
  readonly value: CelValue
}

export interface Identifier extends Node {
  readonly kind: 'identifier'
  /** With a leading dot when it was written so: it then skips variables of macros. */
  readonly name: string
}

export interface Select extends Node {
  readonly kind: 'select'
  readonly operand: Expression
  readonly field: string
  /** `has(operand.field)`. */
  readonly test: boolean
}

export interface Call extends Node {
  readonly kind: 'call'
  readonly name: string
  readonly target?: Expression
  readonly args: readonly Expression[]
}

export interface ListLiteral extends Node {
  readonly kind: 'list'
  readonly items: readonly Expression[]
  /** Indices of items that were written `?item`. */
  readonly optional: readonly number[]
}

export interface MapEntry {
  readonly id: number
  readonly at: number
  readonly key: Expression
  readonly value: Expression
  readonly optional: boolean
}

export interface MapLiteral extends Node {
  readonly kind: 'map'
  readonly entries: readonly MapEntry[]
}

export interface StructField {
  readonly id: number
  readonly at: number
  readonly name: string
  readonly value: Expression
  readonly optional: boolean
}

/** `Object.spec{replicas: 3}` */
export interface StructLiteral extends Node {
  readonly kind: 'struct'
  readonly name: string
  readonly fields: readonly StructField[]
}

/**
 * What macros that walk become: `accumulator` begins as `init`; for each item of `range`, as long as `condition` holds, it
 * becomes `step`; at the end `result` is the value. With a second variable the first one is the key or the index.
 */
export interface Comprehension extends Node {
  readonly kind: 'comprehension'
  readonly range: Expression
  readonly variable: string
  readonly variable2?: string
  readonly accumulator: string
  readonly init: Expression
  readonly condition: Expression
  readonly step: Expression
  readonly result: Expression
}

export type Expression = Literal | Identifier | Select | Call | ListLiteral | MapLiteral | StructLiteral | Comprehension

/** The accumulator of macros; no source can write this name. */
export const ACCUMULATOR = '@result'

/** The parts of a node. */
export function children(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'literal':
    case 'identifier':
      return []
    case 'select':
      return [node.operand]
    case 'call':
      return node.target === undefined ? node.args : [node.target, ...node.args]
    case 'list':
      return node.items
    case 'map':
      return node.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return node.fields.map(({ value }) => value)
    case 'comprehension':
      return [node.range, node.init, node.condition, node.step, node.result]
  }
}
