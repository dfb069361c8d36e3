/** Thread: pool. matchConditions of webhooks and policies: one that is false leaves a request out, whatever the others come to. */
import { MATCH_CONDITIONS_COST_BUDGET } from '../../api/cel/limits.js'
import { BOOL } from '../../api/cel/types.js'
import type { MatchCondition } from '../../api/generated/kinds/admissionregistration.v1.js'
import type { Clock } from '../../lib/clock.js'
import { type AdmissionNames, admissionEnvironment } from './admission-environment.js'
import { compileExpression } from './admission-expression.js'
import { ExpressionGroup, OUT_OF_BUDGET } from './expression-group.js'
import type { ExpressionInput } from './expression-input.js'
import type { PolicyVariables } from './policy-variables.js'

export interface ConditionVerdict {
  /** False when one condition is false, and when they could not be decided. */
  readonly matches: boolean
  /** Why the conditions could not be decided; undefined when they could. */
  readonly error?: string
  /** How many of them could not. */
  readonly failed: number
  readonly elapsedMs: number
}

export class ConditionMatcher {
  readonly #group: ExpressionGroup
  readonly #clock: Clock

  /** Conditions of a policy see its params and variables. */
  constructor(
    conditions: readonly MatchCondition[],
    clock: Clock,
    names: Pick<AdmissionNames, 'params'> = { params: false },
    variables?: PolicyVariables,
  ) {
    const type = variables === undefined ? {} : { variables: variables.type }
    const environment = admissionEnvironment('stored', { ...names, ...type, authorizer: true })
    const compiled = conditions.map(({ expression = '' }) => compileExpression(expression, environment, [BOOL]))
    this.#group = new ExpressionGroup(compiled, variables, () => clock.monotonicMs())
    this.#clock = clock
  }

  decide(input: ExpressionInput): ConditionVerdict {
    const begunMs = this.#clock.monotonicMs()
    const results = this.#group.evaluate(input, { remaining: MATCH_CONDITIONS_COST_BUDGET })
    const elapsedMs = this.#clock.monotonicMs() - begunMs
    if (results === OUT_OF_BUDGET) return { matches: false, error: OUT_OF_BUDGET, failed: 0, elapsedMs }
    const errors: string[] = []
    for (const result of results) {
      if (result === undefined) continue
      if (result.error !== undefined) errors.push(result.error)
      else if (result.value === false) return { matches: false, failed: errors.length, elapsedMs }
    }
    if (errors.length === 0) return { matches: true, failed: 0, elapsedMs }
    return { matches: false, error: aggregate(errors), failed: errors.length, elapsedMs }
  }
}

/** Several errors as one text, each once. */
function aggregate(errors: readonly string[]): string {
  const distinct = [...new Set(errors)]
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`
}
