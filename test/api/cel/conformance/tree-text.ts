/**
 * A tree as text, in the layout in which CEL's suites have theirs: `plainText` of what the parser gives, `checkedText` with
 * types and overloads of what the checker gives.
 */
import { type Checked, qualifiedName } from '#keelson/api/cel/check/checker.js'
import { goQuote, shortestDouble } from '#keelson/api/cel/library/go-numbers.js'
import type { Comprehension, Expression } from '#keelson/api/cel/syntax.js'
import { typeName } from '#keelson/api/cel/types.js'
import { Bytes } from '#keelson/api/cel/values/bytes.js'
import { type CelValue, Double, Uint } from '#keelson/api/cel/values/value.js'

const KINDS: Readonly<Record<Expression['kind'], string>> = {
  literal: '',
  identifier: 'Expr_IdentExpr',
  select: 'Expr_SelectExpr',
  call: 'Expr_CallExpr',
  list: 'Expr_ListExpr',
  map: 'Expr_StructExpr',
  struct: 'Expr_StructExpr',
  comprehension: 'Expr_ComprehensionExpr',
}
const ENTRY = '^#*expr.Expr_CreateStruct_Entry#'

function literalKind(value: CelValue): string {
  if (value === null) return 'Null'
  if (typeof value === 'string') return 'String'
  if (typeof value === 'boolean') return 'Bool'
  if (value instanceof Uint) return 'Uint64'
  if (value instanceof Bytes) return 'Bytes'
  return value instanceof Double || (typeof value === 'number' && !Number.isSafeInteger(value)) ? 'Double' : 'Int64'
}

/** Bytes as Go quotes them: what is no UTF-8 as escaped bytes. */
function quotedBytes(value: Uint8Array): string {
  let text = ''
  for (let i = 0; i < value.length; ) {
    const length = [1, 2, 3, 4].find((size) => isCharacter(value.subarray(i, i + size))) ?? 0
    text +=
      length === 0
        ? `\\x${value[i]!.toString(16).padStart(2, '0')}`
        : goQuote(Buffer.from(value.subarray(i, i + length)).toString()).slice(1, -1)
    i += Math.max(1, length)
  }
  return `b"${text}"`
}

function isCharacter(bytes: Uint8Array): boolean {
  try {
    return [...new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)].length === 1
  } catch {
    return false
  }
}

function literalText(value: CelValue): string {
  switch (literalKind(value)) {
    case 'String':
      return goQuote(value as string)
    case 'Uint64':
      return `${(value as Uint).value}u`
    case 'Bytes':
      return quotedBytes((value as Bytes).value)
    case 'Double':
      return shortestDouble(value instanceof Double ? value.value : (value as number))
    default:
      return String(value)
  }
}

/** What is written behind a node. */
type Mark = (node: Expression) => string

class Writer {
  readonly #mark: Mark
  readonly #entry: string
  readonly #checked: Checked | undefined

  constructor(mark: Mark, entry: string, checked?: Checked) {
    this.#mark = mark
    this.#entry = entry
    this.#checked = checked
  }

  text(node: Expression, depth: number): string {
    return this.#bare(node, depth) + this.#mark(node)
  }

  #bare(node: Expression, depth: number): string {
    const reference = this.#checked?.referenceOf(node)
    if (reference !== undefined) return reference.name
    switch (node.kind) {
      case 'literal':
        return literalText(node.value)
      case 'identifier':
        return node.name
      case 'select':
        return `${this.text(node.operand, depth)}.${node.field}${node.test ? '~test-only~' : ''}`
      case 'call':
        return this.#call(node, depth)
      case 'list':
        return this.#block('[', ']', depth, (inner) => node.items.map((item) => this.text(item, inner)))
      case 'map':
        return this.#block('{', '}', depth, (inner) =>
          node.entries.map(
            ({ key, value, optional }) =>
              `${optional ? '?' : ''}${this.text(key, inner)}:${this.text(value, inner)}${this.#entry}`,
          ),
        )
      case 'struct':
        return this.#block(`${node.name}{`, '}', depth, (inner) =>
          node.fields.map(
            ({ name, value, optional }) => `${optional ? '?' : ''}${name}:${this.text(value, inner)}${this.#entry}`,
          ),
        )
      case 'comprehension':
        return this.#comprehension(node, depth + 1)
    }
  }

  #call(node: Extract<Expression, { kind: 'call' }>, depth: number): string {
    const { target, name } = node
    const isNamespaced = target !== undefined && this.#checked?.overloadsOf(node)[0]?.member === undefined
    const before =
      target === undefined
        ? ''
        : this.#checked !== undefined && isNamespaced
          ? `${qualifiedName(target)}.`
          : `${this.text(target, depth)}.`
    return this.#block(`${before}${name}(`, ')', depth, (inner) => node.args.map((arg) => this.text(arg, inner)))
  }

  #block(open: string, close: string, depth: number, lines: (inner: number) => readonly string[]): string {
    const made = lines(depth + 1)
    if (made.length === 0) return open + close
    const indent = '  '.repeat(depth + 1)
    return `${open}\n${made.map((line) => indent + line).join(',\n')}\n${'  '.repeat(depth)}${close}`
  }

  #comprehension(node: Comprehension, depth: number): string {
    const parts = [
      ['Variable', node.variable + (node.variable2 === undefined ? '' : `,\n${'  '.repeat(depth)}${node.variable2}`)],
      ['Target', this.text(node.range, depth)],
      ['Accumulator', node.accumulator],
      ['Init', this.text(node.init, depth)],
      ['LoopCondition', this.text(node.condition, depth)],
      ['LoopStep', this.text(node.step, depth)],
      ['Result', this.text(node.result, depth)],
    ]
    const indent = '  '.repeat(depth)
    return `__comprehension__(\n${parts.map(([name, text]) => `${indent}// ${name}\n${indent}${text}`).join(',\n')})`
  }
}

export const plainText = (tree: Expression): string =>
  new Writer(
    (node) => `^#*expr.${node.kind === 'literal' ? `Constant_${literalKind(node.value)}Value` : KINDS[node.kind]}#`,
    ENTRY,
  ).text(tree, 0)

/** Types, and what names and calls stand for. */
export function checkedText(checked: Checked): string {
  const mark: Mark = (node) => {
    const type = `~${typeName(checked.typeOf(node))}`
    const name = checked.referenceOf(node)?.name ?? (node.kind === 'identifier' ? node.name : undefined)
    const overloads = checked
      .overloadsOf(node)
      .map(({ id }) => id)
      .sort()
    if (name !== undefined) return `${type}^${name}`
    return overloads.length === 0 ? type : `${type}^${overloads.join('|')}`
  }
  return new Writer(mark, '', checked).text(checked.tree, 0)
}
