/**
 * Thread: pool. Expressions that are evaluated together: the match conditions, the validations, the messages or the audit
 * annotations of a policy. They share one budget of costs and one set of variables.
 */
import { type CostBudget, EvaluationError } from '../../api/cel/program.js'
import type { CelValue } from '../../api/cel/values/value.js'
import type { AdmissionExpression } from './admission-expression.js'
import { type ExpressionInput, InputActivation } from './expression-input.js'
import type { PolicyVariables } from './policy-variables.js'

export interface Evaluated {
  /** Undefined when there is an error. */
  readonly value: CelValue | undefined
  /** Why there is no value; undefined when there is one. */
  readonly error: string | undefined
  readonly elapsedMs: number
}

/** All expressions together have cost too much: none of their results count. */
export const OUT_OF_BUDGET =
  'validation failed due to running out of cost budget, no further validation rules will be run'

/** What was evaluated, in order (undefined where there is no expression), or OUT_OF_BUDGET. */
export type GroupResult = readonly (Evaluated | undefined)[] | typeof OUT_OF_BUDGET

export class ExpressionGroup {
  readonly #expressions: readonly (AdmissionExpression | undefined)[]
  readonly #variables: PolicyVariables | undefined
  readonly #nowMs: () => number

  constructor(
    expressions: readonly (AdmissionExpression | undefined)[],
    variables: PolicyVariables | undefined,
    nowMs: () => number,
  ) {
    this.#expressions = expressions
    this.#variables = variables
    this.#nowMs = nowMs
  }

  evaluate(input: ExpressionInput, budget: CostBudget): GroupResult {
    const activation = new InputActivation(input)
    activation.variables = this.#variables?.value(activation, budget)
    const results: (Evaluated | undefined)[] = []
    for (const expression of this.#expressions) {
      results.push(expression && this.#one(expression, activation, budget))
      if (budget.remaining < 0) return OUT_OF_BUDGET
    }
    return results
  }

  #one({ source, program, error }: AdmissionExpression, activation: InputActivation, budget: CostBudget): Evaluated {
    if (program === undefined) return { value: undefined, error: `compilation error: ${error}`, elapsedMs: 0 }
    const begunMs = this.#nowMs()
    const value = program.evaluate(activation, budget)
    const elapsedMs = this.#nowMs() - begunMs
    return value instanceof EvaluationError
      ? { value: undefined, error: `expression '${source}' resulted in error: ${value.message}`, elapsedMs }
      : { value, error: undefined, elapsedMs }
  }
}
