/**
 * Thread: any. What an expression can cost at most, before it runs: sizes come from literals and from what is declared about the
 * types of variables (maxElements), along the path on which a value is reached.
 */
import type { Checked } from '../check/checker.js'
import type { Environment } from '../environment.js'
import type { Overload } from '../function-declaration.js'
import type { Call, Comprehension, Expression } from '../syntax.js'
import { type CelType, INT, optionalContent } from '../types.js'
import { Bytes } from '../values/bytes.js'
import { codePointCount } from '../values/strings.js'
import {
  addRanges,
  type CallEstimate,
  type EstimatedValue,
  exactly,
  LIST_CREATE_COST,
  MAP_CREATE_COST,
  multiplyRanges,
  type Range,
  STRUCT_CREATE_COST,
  UNBOUNDED,
  UNKNOWN_RANGE,
  uniteRanges,
} from './estimate.js'

/** What is known of a part: its cost, its size, its declared type when a path leads to it, and sizes of its entries. */
interface Known {
  readonly cost: Range
  readonly size: Range | undefined
  readonly declared: CelType | undefined
  /** Whether a path leads to it, though perhaps to nothing that is declared. */
  readonly hasPath: boolean
  readonly entries: Entries | undefined
}

interface Entries {
  readonly key: Range
  readonly value: Range
}

interface Scope {
  readonly name: string
  readonly known: Known
  readonly outer: Scope | undefined
}

export function estimateCost(checked: Checked, environment: Environment): Range {
  return new Estimation(checked, environment).estimate(checked.tree, undefined).cost
}

const SCALARS = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint'])
const NOTHING = exactly(0)
const ONE = exactly(1)

function typeSize(type: CelType): Range | undefined {
  const content = optionalContent(type)
  if (content !== undefined) return typeSize(content)
  return SCALARS.has(type.kind) ? ONE : undefined
}

/** As Kubernetes reads maxElements: 0 for what has no elements. */
function declaredSize(type: CelType): Range {
  const elements =
    type.maxElements ?? (['object', 'bool', 'int', 'uint', 'double', 'null'].includes(type.kind) ? 0 : UNBOUNDED)
  return { min: 0, max: elements }
}

const fieldOf = (type: CelType | undefined, name: string): CelType | undefined => {
  const holder = type === undefined ? undefined : (optionalContent(type) ?? type)
  if (holder?.kind === 'object') return holder.fields.get(name)?.type
  // Attributes of devices: whatever their name is, they are no longer than this.
  return holder?.kind === 'map' && holder.value.kind === 'any' ? holder.value : undefined
}

const elementOf = (type: CelType | undefined): CelType | undefined =>
  type?.kind === 'list' ? type.element : type?.kind === 'map' ? type.value : undefined

/**
 * In rules of schemas a path is looked up in the type of `self`, whatever it begins with: Kubernetes drops the name that it begins
 * with unseen. So `oldSelf`, names of types, and what is reached from the result of a call by one step are all as large as `self`
 * is, which is how `type(self.port) == int` costs next to nothing.
 */
class Estimation {
  readonly #checked: Checked
  readonly #environment: Environment
  readonly #self: CelType | undefined

  constructor(checked: Checked, environment: Environment) {
    this.#checked = checked
    this.#environment = environment
    this.#self = environment.variables.get('self')
  }

  /** What a path says of a size goes before what the type says. */
  #sized(node: Expression, cost: Range, declared: CelType | undefined, size?: Range, entries?: Entries): Known {
    const known = size ?? (declared === undefined ? typeSize(this.#checked.typeOf(node)) : declaredSize(declared))
    return { cost, size: known, declared, hasPath: declared !== undefined, entries }
  }

  /** One step from a part, to what is declared there. */
  #reached(from: Known, declared: CelType | undefined): CelType | undefined {
    return from.hasPath ? declared : this.#self
  }

  estimate(node: Expression, scope: Scope | undefined): Known {
    const reference = this.#checked.referenceOf(node)
    if (reference !== undefined)
      return this.#sized(node, ONE, this.#self ?? this.#environment.variables.get(reference.name))
    switch (node.kind) {
      case 'literal':
        return this.#sized(node, NOTHING, undefined, exactly(literalSize(node.value)))
      case 'identifier': {
        for (let one = scope; one !== undefined; one = one.outer) {
          const { declared, size } = one.known
          const known = declared === undefined ? typeSize(this.#checked.typeOf(node)) : declaredSize(declared)
          if (one.name === node.name) return { ...one.known, cost: ONE, size: known ?? size }
        }
        return this.#sized(node, ONE, undefined)
      }
      case 'select': {
        const operand = this.estimate(node.operand, scope)
        if (node.test) return this.#sized(node, operand.cost, undefined)
        const { kind } = this.#checked.typeOf(node.operand)
        const own = kind === 'map' || kind === 'object' ? 1 : 0
        const declared = this.#reached(operand, fieldOf(operand.declared, node.field))
        return { ...this.#sized(node, addRanges(operand.cost, exactly(own)), declared), hasPath: true }
      }
      case 'call':
        return this.#call(node, scope)
      case 'list': {
        const items = node.items.map((item) => this.estimate(item, scope))
        const cost = items.reduce((sum, item) => addRanges(sum, item.cost), exactly(LIST_CREATE_COST))
        return this.#sized(node, cost, undefined, exactly(items.length), { key: ONE, value: united(items) })
      }
      case 'map': {
        const keys = node.entries.map(({ key }) => this.estimate(key, scope))
        const values = node.entries.map(({ value }) => this.estimate(value, scope))
        const cost = [...keys, ...values].reduce((sum, one) => addRanges(sum, one.cost), exactly(MAP_CREATE_COST))
        return this.#sized(node, cost, undefined, exactly(keys.length), { key: united(keys), value: united(values) })
      }
      case 'struct': {
        const fields = node.fields.map(({ value }) => this.estimate(value, scope))
        return this.#sized(
          node,
          fields.reduce((sum, one) => addRanges(sum, one.cost), exactly(STRUCT_CREATE_COST)),
          undefined,
        )
      }
      case 'comprehension':
        return this.#comprehension(node, scope)
    }
  }

  #call(node: Call, scope: Scope | undefined): Known {
    const overloads = this.#checked.overloadsOf(node)
    const isMember = overloads[0]?.member === true && node.target !== undefined
    const nodes = isMember ? [node.target!, ...node.args] : node.args
    const args = nodes.map((one) => this.estimate(one, scope))
    const sum = args.reduce((cost, one) => addRanges(cost, one.cost), NOTHING)
    switch (node.name) {
      case 'dyn':
        return { ...args[0]!, cost: addRanges(sum, ONE), declared: undefined, hasPath: false }
      case '_&&_':
      case '_||_':
        return this.#sized(node, { min: args[0]!.cost.min, max: sum.max }, undefined)
      case '_?_:_':
        return this.#choice(node, args)
      case '_?._': {
        // In rules of schemas no path leads through what is optional.
        if (this.#self !== undefined) return this.#sized(node, addRanges(sum, ONE), undefined)
        const field = node.args[1]!
        const declared = fieldOf(args[0]!.declared, field.kind === 'literal' ? String(field.value) : '')
        return this.#sized(node, addRanges(sum, ONE), declared)
      }
      case '_[_]': {
        const declared = this.#reached(args[0]!, elementOf(args[0]!.declared))
        return { ...this.#sized(node, addRanges(sum, ONE), declared, args[0]!.entries?.value), hasPath: true }
      }
      default:
        return this.#overloaded(node, overloads, nodes, args, sum)
    }
  }

  #choice(node: Call, [test, yes, no]: readonly Known[]): Known {
    const size = uniteRanges(yes!.size ?? UNKNOWN_RANGE, no!.size ?? UNKNOWN_RANGE)
    const cost = addRanges(test!.cost, uniteRanges(yes!.cost, no!.cost))
    return this.#sized(node, cost, undefined, size, unitedEntries(yes!.entries, no!.entries))
  }

  #overloaded(
    node: Call,
    overloads: readonly Overload[],
    nodes: readonly Expression[],
    args: readonly Known[],
    sum: Range,
  ): Known {
    const values = nodes.map((one, i) => this.#value(one, args[i]!))
    let cost: Range | undefined
    let size: Range | undefined
    for (const overload of overloads) {
      const estimate: CallEstimate = overload.estimate?.(...values) ?? { cost: ONE }
      cost = cost === undefined ? estimate.cost : uniteRanges(cost, estimate.cost)
      if (estimate.size !== undefined) size = size === undefined ? estimate.size : uniteRanges(size, estimate.size)
    }
    const entries = node.name === '_+_' ? unitedEntries(args[0]?.entries, args[1]?.entries) : undefined
    return this.#sized(node, addRanges(sum, cost ?? NOTHING), undefined, size, entries)
  }

  /** How large items of a list can be is known only where a path leads to them; those of literals are not looked at. */
  #value(node: Expression, { size, declared }: Known): EstimatedValue {
    const type = this.#checked.typeOf(node)
    const value: EstimatedValue = {
      type,
      size: size ?? UNKNOWN_RANGE,
      ...(node.kind === 'literal' && { literal: node.value }),
    }
    if (type.kind !== 'list') return value
    const element = elementOf(declared)
    const items = element === undefined ? UNKNOWN_RANGE : declaredSize(element)
    return { ...value, items: { type: type.element, size: items } }
  }

  #comprehension(node: Comprehension, scope: Scope | undefined): Known {
    const range = this.estimate(node.range, scope)
    const init = this.estimate(node.init, scope)
    const outer: Scope = {
      name: node.accumulator,
      known: { ...init, declared: undefined, hasPath: false },
      outer: scope,
    }
    const isBinding =
      node.range.kind === 'list' &&
      node.range.items.length === 0 &&
      node.condition.kind === 'literal' &&
      node.condition.value === false
    if (isBinding) {
      const result = this.estimate(node.result, { ...outer, known: init })
      return { ...result, cost: addRanges(addRanges(range.cost, init.cost), result.cost) }
    }
    const inner = this.#bound(node, range, outer)
    const condition = this.estimate(node.condition, inner)
    const step = this.estimate(node.step, inner)
    const result = this.estimate(node.result, outer)
    const count = range.size ?? UNKNOWN_RANGE
    const loop = multiplyRanges(count, addRanges(condition.cost, step.cost))
    const cost = [range.cost, init.cost, result.cost, loop].reduce(addRanges)
    if (node.init.kind === 'literal') return this.#sized(node, cost, undefined, init.size)
    const collects = node.init.kind === 'list' || node.init.kind === 'map'
    return this.#sized(node, cost, undefined, collects ? count : undefined, collects ? step.entries : undefined)
  }

  #bound(node: Comprehension, range: Known, outer: Scope): Scope {
    const { declared, entries } = range
    const isList = this.#checked.typeOf(node.range).kind === 'list'
    const known = (type: CelType | undefined, size: Range | undefined): Known => ({
      cost: ONE,
      size,
      declared: type,
      hasPath: true,
      entries: undefined,
    })
    const value = known(this.#reached(range, elementOf(declared)), entries?.value)
    const key = known(
      this.#reached(range, isList ? undefined : declared?.kind === 'map' ? declared.key : undefined),
      isList ? typeSize(INT) : entries?.key,
    )
    if (node.variable2 === undefined) return { name: node.variable, known: isList ? value : key, outer }
    return { name: node.variable2, known: value, outer: { name: node.variable, known: key, outer } }
  }
}

const united = (parts: readonly Known[]): Range =>
  parts.length === 0 ? NOTHING : parts.map(({ size }) => size ?? UNKNOWN_RANGE).reduce(uniteRanges)

const unitedEntries = (a: Entries | undefined, b: Entries | undefined): Entries | undefined =>
  a === undefined || b === undefined
    ? undefined
    : { key: uniteRanges(a.key, b.key), value: uniteRanges(a.value, b.value) }

const literalSize = (value: unknown): number =>
  typeof value === 'string' ? codePointCount(value) : value instanceof Bytes ? value.value.length : 1
