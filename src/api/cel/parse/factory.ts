/** Thread: any. Makes the nodes of one tree, each with a number of its own. */
import { MAX_NODES } from '../limits.js'
import { type ExpressionFactory, MacroError } from '../macro.js'
import type { Call, Comprehension, Expression, ListLiteral, Literal, MapEntry, MapLiteral, Select } from '../syntax.js'
import type { CelValue } from '../values/value.js'
import { CelSyntaxError } from './tokens.js'

export class NodeFactory implements ExpressionFactory {
  #lastId = 0
  /** Where nodes that are made now stand. */
  at = 0

  get lastId(): number {
    return this.#lastId
  }

  node(at = this.at): { readonly id: number; readonly at: number } {
    this.#lastId++
    if (this.#lastId > MAX_NODES) throw new CelSyntaxError(`expression size limit exceeded: ${MAX_NODES}`, -1)
    return { id: this.#lastId, at }
  }

  literal(value: CelValue): Literal {
    return { kind: 'literal', ...this.node(), value }
  }

  identifier(name: string): Expression {
    return { kind: 'identifier', ...this.node(), name }
  }

  call(name: string, ...args: readonly Expression[]): Call {
    return { kind: 'call', ...this.node(), name, args }
  }

  memberCall(name: string, target: Expression, ...args: readonly Expression[]): Call {
    return { kind: 'call', ...this.node(), name, target, args }
  }

  list(...items: readonly Expression[]): ListLiteral {
    return { kind: 'list', ...this.node(), items, optional: [] }
  }

  map(...entries: readonly (readonly [Expression, Expression])[]): MapLiteral {
    const made = entries.map(([key, value]) => ({ ...this.node(), key, value, optional: false }))
    return { kind: 'map', ...this.node(), entries: made }
  }

  select(operand: Expression, field: string, test = false): Select {
    return { kind: 'select', ...this.node(), operand, field, test }
  }

  comprehension(parts: Omit<Comprehension, 'kind' | 'id' | 'at'>): Comprehension {
    return { kind: 'comprehension', ...this.node(), ...parts }
  }

  copy(node: Expression): Expression {
    const { at } = node
    switch (node.kind) {
      case 'literal':
      case 'identifier':
        return { ...node, ...this.node(at) }
      case 'select':
        return { ...node, ...this.node(at), operand: this.copy(node.operand) }
      case 'call': {
        const target = node.target === undefined ? {} : { target: this.copy(node.target) }
        return { ...node, ...this.node(at), ...target, args: node.args.map((arg) => this.copy(arg)) }
      }
      case 'list':
        return { ...node, ...this.node(at), items: node.items.map((item) => this.copy(item)) }
      case 'map':
        return { ...node, ...this.node(at), entries: node.entries.map((entry) => this.#copyEntry(entry)) }
      case 'struct': {
        const fields = node.fields.map((field) => ({
          ...field,
          ...this.node(field.at),
          value: this.copy(field.value),
        }))
        return { ...node, ...this.node(at), fields }
      }
      case 'comprehension':
        return this.#copyComprehension(node)
    }
  }

  #copyEntry(entry: MapEntry): MapEntry {
    return { ...entry, ...this.node(entry.at), key: this.copy(entry.key), value: this.copy(entry.value) }
  }

  #copyComprehension(node: Comprehension): Comprehension {
    return {
      ...node,
      ...this.node(node.at),
      range: this.copy(node.range),
      init: this.copy(node.init),
      condition: this.copy(node.condition),
      step: this.copy(node.step),
      result: this.copy(node.result),
    }
  }

  error(message: string, { at }: Expression): MacroError {
    return new MacroError(message, at)
  }
}
