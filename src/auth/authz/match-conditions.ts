/** Thread: any. Match conditions of a webhook that authorizes: expressions over the `request` that it would be asked of. */
import { baseEnvironment } from '../../api/cel/environment.js'
import { MATCH_CONDITIONS_COST_BUDGET } from '../../api/cel/limits.js'
import { type CostBudget, EvaluationError } from '../../api/cel/program.js'
import { listOf, mapOf, objectOf, STRING } from '../../api/cel/types.js'
import { type ConfiguredExpression, configuredCondition } from '../configuration-expression.js'
import type { Attributes } from '../interface.js'
import { conditionRequest } from './access-review-spec.js'

const STRINGS = listOf(STRING)
const SELECTOR = {
  rawSelector: STRING,
  requirements: listOf(objectOf('kubernetes.SelectorRequirement', { key: STRING, operator: STRING, values: STRINGS })),
}

/** The spec of a SubjectAccessReview, v1. */
const REQUEST = objectOf('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes: objectOf('kubernetes.ResourceAttributes', {
    namespace: STRING,
    verb: STRING,
    group: STRING,
    version: STRING,
    resource: STRING,
    subresource: STRING,
    name: STRING,
    fieldSelector: objectOf('kubernetes.FieldSelectorAttributes', SELECTOR),
    labelSelector: objectOf('kubernetes.LabelSelectorAttributes', SELECTOR),
  }),
  nonResourceAttributes: objectOf('kubernetes.NonResourceAttributes', { path: STRING, verb: STRING }),
  user: STRING,
  groups: STRINGS,
  extra: mapOf(STRING, STRINGS),
  uid: STRING,
})

export const REQUEST_ENVIRONMENT = baseEnvironment('new').extend({ variables: { request: REQUEST } })

export class MatchConditions {
  readonly #conditions: readonly ConfiguredExpression[]

  constructor(expressions: readonly string[]) {
    this.#conditions = expressions.map((expression) => configuredCondition(expression, REQUEST_ENVIRONMENT))
  }

  /** One that is false leaves the request out, whatever the others come to. */
  decide(attributes: Attributes): 'matches' | 'excluded' | { readonly error: string } {
    const request = conditionRequest(attributes)
    const budget: CostBudget = { remaining: MATCH_CONDITIONS_COST_BUDGET }
    const errors: string[] = []
    for (const condition of this.#conditions) {
      const result = condition.evaluate({ request }, budget)
      if (result instanceof EvaluationError)
        errors.push(`the match condition '${condition.source}' failed: ${result.message}`)
      else if (result !== true) return 'excluded'
    }
    if (errors.length === 0) return 'matches'
    return { error: errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]` }
  }
}
