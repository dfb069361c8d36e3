/** Thread: any. A checked tree becomes closures that are made for its types. */
import type { Checked } from '../check/checker.js'
import { LIST_CREATE_COST, MAP_CREATE_COST } from '../cost/estimate.js'
import type { Call, Comprehension, Expression, ListLiteral, MapLiteral, StructLiteral } from '../syntax.js'
import type { CelType, ObjectType } from '../types.js'
import { TypeValue } from '../values/type-value.js'
import { CelError } from '../values/value.js'
import {
  type Attribute,
  attributePart,
  indexStep,
  optionalSelectStep,
  type Step,
  selectStep,
  slotClosure,
  testClosure,
} from './attributes.js'
import { callClosure, membershipClosure } from './calls.js'
import { listClosure, mapClosure, structClosure } from './constructors.js'
import { type Closure, Frame } from './frame.js'
import { andClosure, choiceClosure, notStrictlyFalseClosure, orClosure } from './logic.js'
import { collectorClosure, loopClosure, quantifierClosure } from './loops.js'
import { constantPart, type Part, partOf } from './part.js'
import { recognise } from './recognise.js'

export interface Compiled {
  readonly closure: Closure
  readonly slotCount: number
  /** Variables of the environment that are read, with their slots. */
  readonly variables: ReadonlyMap<string, number>
}

export interface CompileOptions {
  /** Whether literals of lists and maps, and conversions of literals, are made once and cost nothing, as Kubernetes has it. */
  readonly fold: boolean
}

export function compileTree(checked: Checked, options: CompileOptions = { fold: true }): Compiled {
  const compiler = new Compiler(checked, options)
  const { closure } = compiler.compile(checked.tree, undefined)
  return { closure, slotCount: compiler.slotCount, variables: compiler.variables }
}

interface Scope {
  readonly name: string
  readonly slot: number
  /** Whether what is in the slot may be JSON. */
  readonly json: boolean
  readonly outer: Scope | undefined
}

const found = (scope: Scope | undefined, name: string): Scope | undefined => {
  for (let one = scope; one !== undefined; one = one.outer) if (one.name === name) return one
  return undefined
}

/** Functions from one type to another: of what is known before, they are known before. */
const CONVERSIONS = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
])
const INDICES = new Set(['_[_]', '_[?_]'])

class Compiler {
  readonly variables = new Map<string, number>()
  slotCount = 0
  readonly #checked: Checked
  readonly #options: CompileOptions

  constructor(checked: Checked, options: CompileOptions) {
    this.#checked = checked
    this.#options = options
  }

  #slot(): number {
    this.slotCount++
    return this.slotCount - 1
  }

  /** `own`: evaluated by itself, not as an index or as a branch of a choice (attributes.ts). */
  compile(node: Expression, scope: Scope | undefined, own = true): Part {
    const type = this.#checked.typeOf(node)
    const named = this.#checked.referenceOf(node)?.named
    if (named !== undefined) return constantPart(type, new TypeValue(named))
    const attribute = this.#attribute(node, scope)
    if (attribute !== undefined) {
      const part = attributePart(attribute, type, own)
      const local = node.kind === 'identifier' ? found(scope, node.name) : undefined
      return local?.json === false ? partOf(type, part.raw) : part
    }
    switch (node.kind) {
      case 'literal':
        return constantPart(type, node.value)
      case 'call':
        return this.#call(node, scope, type)
      case 'list':
        return this.#list(node, scope, type)
      case 'map':
        return this.#map(node, scope, type)
      case 'struct':
        return partOf(type, this.#struct(node, scope))
      case 'comprehension':
        return partOf(type, this.#loop(node, scope))
      case 'select':
      case 'identifier': {
        const { operand, field } = node as Extract<Expression, { kind: 'select' }>
        return partOf(type, testClosure(this.compile(operand, scope).raw, this.#checked.typeOf(operand), field))
      }
    }
  }

  /** A variable, or fields, keys and indices of something; undefined for everything else. */
  #attribute(node: Expression, scope: Scope | undefined): Attribute | undefined {
    const reference = this.#checked.referenceOf(node)
    if (reference !== undefined) return { root: slotClosure(this.#variable(reference.name)), own: 1, steps: [] }
    if (node.kind === 'identifier') return { root: slotClosure(found(scope, node.name)!.slot), own: 1, steps: [] }
    if (node.kind === 'select') {
      if (node.test) return undefined
      const result = this.#checked.typeOf(node)
      return this.#extended(node.operand, scope, selectStep(this.#checked.typeOf(node.operand), node.field, result))
    }
    if (node.kind !== 'call') return undefined
    const [operand, argument] = node.args
    if (INDICES.has(node.name)) return this.#extended(operand!, scope, this.#index(node, scope))
    if (node.name !== '_?._') return undefined
    const name = argument?.kind === 'literal' ? String(argument.value) : ''
    const [type, result] = [this.#checked.typeOf(operand!), this.#checked.typeOf(node)]
    return this.#extended(operand!, scope, optionalSelectStep(type, name, result))
  }

  #extended(operand: Expression, scope: Scope | undefined, step: Step): Attribute {
    const named = this.#checked.referenceOf(operand)?.named
    const base = named === undefined ? this.#attribute(operand, scope) : undefined
    if (base !== undefined) return { ...base, steps: [...base.steps, step] }
    const isChoice = operand.kind === 'call' && operand.name === '_?_:_'
    return { root: this.compile(operand, scope).raw, own: isChoice ? 0 : 1, steps: [step] }
  }

  #index(node: Call, scope: Scope | undefined): Step {
    const index = this.compile(node.args[1]!, scope, false)
    return indexStep(index, node.name === '_[?_]', this.#checked.typeOf(node))
  }

  #variable(name: string): number {
    const slot = this.variables.get(name) ?? this.#slot()
    this.variables.set(name, slot)
    return slot
  }

  #call(node: Call, scope: Scope | undefined, type: CelType): Part {
    const closureOf = (i: number): Closure => this.compile(node.args[i]!, scope).closure
    switch (node.name) {
      case '_&&_':
        return partOf(type, andClosure(closureOf(0), closureOf(1)))
      case '_||_':
        return partOf(type, orClosure(closureOf(0), closureOf(1)))
      case '_?_:_':
        return this.#choice(node, scope, type)
      case '@not_strictly_false':
        return partOf(type, notStrictlyFalseClosure(closureOf(0)))
      default:
        return this.#overloaded(node, scope, type)
    }
  }

  #choice({ args }: Call, scope: Scope | undefined, type: CelType): Part {
    const test = this.compile(args[0]!, scope).closure
    const [yes, no] = [this.compile(args[1]!, scope, false), this.compile(args[2]!, scope, false)]
    const closure = choiceClosure(test, yes.closure, no.closure)
    return { type, closure, raw: choiceClosure(test, yes.raw, no.raw) }
  }

  #overloaded(node: Call, scope: Scope | undefined, type: CelType): Part {
    const overloads = this.#checked.overloadsOf(node)
    const isMember = overloads[0]?.member === true && node.target !== undefined
    const nodes = isMember ? [node.target!, ...node.args] : node.args
    const parts = nodes.map((one) => this.compile(one, scope))
    const closure = callClosure(node.name, overloads, parts)
    if (!this.#options.fold) return partOf(type, closure)
    const last = parts.at(-1)?.constant
    if (node.name === '@in' && last !== undefined)
      return partOf(type, membershipClosure(parts[0]!.closure, last.value) ?? closure)
    return parts.length === 1 && last !== undefined && CONVERSIONS.has(node.name)
      ? this.#folded(type, closure)
      : partOf(type, closure)
  }

  /** What is evaluated now, and never again; what cannot be stays as it is. */
  #folded(type: CelType, closure: Closure): Part {
    const value = closure(new Frame([]))
    return value instanceof CelError ? partOf(type, closure) : constantPart(type, value)
  }

  #list({ items, optional }: ListLiteral, scope: Scope | undefined, type: CelType): Part {
    const parts = items.map((item) => this.compile(item, scope))
    if (this.#options.fold && optional.length === 0 && parts.every(({ constant }) => constant !== undefined))
      return constantPart(
        type,
        parts.map(({ constant }) => constant!.value),
      )
    return partOf(
      type,
      listClosure(
        parts.map(({ closure }) => closure),
        optional,
        LIST_CREATE_COST,
      ),
    )
  }

  #map({ entries }: MapLiteral, scope: Scope | undefined, type: CelType): Part {
    const parts = entries.map(({ key, value, optional }) => ({
      key: this.compile(key, scope),
      value: this.compile(value, scope),
      optional,
    }))
    const closure = mapClosure(
      parts.map(({ key, value, optional }) => ({ key: key.closure, value: value.closure, optional })),
      MAP_CREATE_COST,
    )
    const isConstant = parts.every(({ key, value, optional }) => !optional && key.constant && value.constant)
    return this.#options.fold && isConstant ? this.#folded(type, closure) : partOf(type, closure)
  }

  #struct(node: StructLiteral, scope: Scope | undefined): Closure {
    const type = this.#checked.typeOf(node) as ObjectType
    const fields = node.fields.map(({ name, value, optional }) => ({
      name,
      value: this.compile(value, scope).closure,
      optional,
    }))
    return structClosure(type, fields)
  }

  /** A macro that is known is compiled as what it is; parts are never compiled twice, since they nest. */
  #loop(node: Comprehension, scope: Scope | undefined): Closure {
    const range = this.compile(node.range, scope)
    const json = range.raw !== range.closure
    const [accumulator, variable] = [this.#slot(), this.#slot()]
    const outer: Scope = { name: node.accumulator, slot: accumulator, json: false, outer: scope }
    const inner: Scope = { name: node.variable, slot: variable, json, outer }
    const walk = { range: range.raw, variable }
    const known = node.variable2 === undefined ? recognise(node) : undefined
    if (known?.kind === 'collect') {
      const test = known.test === undefined ? undefined : this.compile(known.test, inner).closure
      const init = this.compile(node.init, scope).closure
      return collectorClosure(walk, { init, test, item: this.compile(known.item, inner).closure })
    }
    if (known !== undefined) return quantifierClosure(walk, known.kind, this.compile(known.body, inner).closure)
    const variable2 = node.variable2 === undefined ? undefined : this.#slot()
    const second = variable2 === undefined ? inner : { name: node.variable2!, slot: variable2, json, outer: inner }
    return loopClosure(walk, {
      variable2,
      accumulator,
      init: this.compile(node.init, scope).closure,
      condition: this.compile(node.condition, second).closure,
      step: this.compile(node.step, second).closure,
      result: this.compile(node.result, outer).closure,
    })
  }
}
