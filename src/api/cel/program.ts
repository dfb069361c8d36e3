/** Thread: any. Source to program, and its evaluation. `compile` never throws; `evaluate` throws only what callbacks of values throw. */

import { check } from './check/checker.js'
import { validate } from './check/validators.js'
import { type Compiled, compileTree } from './compile/compiler.js'
import { type Closure, COST_LIMIT_EXCEEDED, Frame, WorkExceeded } from './compile/frame.js'
import type { Range } from './cost/estimate.js'
import { estimateCost } from './cost/estimator.js'
import type { Environment } from './environment.js'
import { MAX_SHARED_STEPS, PER_CALL_LIMIT } from './limits.js'
import { parse } from './parse/parser.js'
import { displayErrors } from './source-error.js'
import type { CelType } from './types.js'
import { CelError, type CelValue } from './values/value.js'

/** Why an expression gave no value. */
export class EvaluationError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/** What may still be spent, by whoever evaluates several programs; below zero it is spent. */
export interface CostBudget {
  remaining: number
  /** Work that has been done beside what costs say; with too much of it the budget is spent. */
  steps?: number
}

export type Activation = Readonly<Record<string, CelValue | undefined>>

export type CompileResult =
  | { readonly program: Program; readonly errors: undefined }
  | { readonly program: undefined; readonly errors: string }

export class Program {
  readonly type: CelType
  readonly estimatedCost: Range
  /** Names of the environment that the expression uses. */
  readonly variables: ReadonlySet<string>
  readonly #compiled: Compiled
  readonly #inputs: readonly (readonly [name: string, slot: number, missing: CelError])[]

  constructor(type: CelType, estimatedCost: Range, compiled: Compiled) {
    this.type = type
    this.estimatedCost = estimatedCost
    this.variables = new Set(compiled.variables.keys())
    this.#compiled = compiled
    this.#inputs = [...compiled.variables].map(([name, slot]) => [
      name,
      slot,
      new CelError(`no such attribute(s): ${name}`),
    ])
  }

  evaluate(activation: Activation, budget?: CostBudget): CelValue | EvaluationError {
    const { slotCount, closure } = this.#compiled
    const slots: CelValue[] = []
    for (let i = 0; i < slotCount; i++) slots.push(null)
    for (const [name, slot, missing] of this.#inputs) {
      const value = activation[name]
      slots[slot] = value === undefined ? missing : value
    }
    const frame = new Frame(slots)
    const value = run(closure, frame)
    if (budget !== undefined) {
      budget.steps = (budget.steps ?? 0) + frame.steps
      budget.remaining = budget.steps > MAX_SHARED_STEPS ? -1 : budget.remaining - frame.cost
    }
    if (frame.isExhausted) return new EvaluationError(COST_LIMIT_EXCEEDED.message)
    return value instanceof CelError ? new EvaluationError(value.message) : value
  }
}

function run(closure: Closure, frame: Frame): CelValue {
  try {
    return closure(frame)
  } catch (error) {
    if (!(error instanceof WorkExceeded)) throw error
    frame.cost = Math.max(frame.cost, PER_CALL_LIMIT + 1)
    return COST_LIMIT_EXCEEDED
  }
}

export function compile(source: string, environment: Environment): CompileResult {
  const parsed = parse(source, { macros: environment.macros, optionals: environment.functions.has('optional.of') })
  if ('errors' in parsed) return { program: undefined, errors: displayErrors(parsed.errors, source) }
  const checked = check(parsed.tree, environment)
  const errors = checked.errors.length > 0 ? checked.errors : validate(checked)
  if (errors.length > 0) return { program: undefined, errors: displayErrors(errors, source) }
  const cost = estimateCost(checked, environment)
  return { program: new Program(checked.type, cost, compileTree(checked)), errors: undefined }
}
