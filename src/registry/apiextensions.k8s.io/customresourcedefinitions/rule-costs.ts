/** Thread: pool. What the rules of a definition may cost, one by one and together, and how it is told that they cost more. */
import { type FieldPath, forbidden } from '../../../api/field-error.js'
import type { Errors } from '../../../api/validation/checks.js'

/** What one rule may cost on all values of an object that it can be evaluated on. */
export const RULE_COST_LIMIT = 10_000_000
/** What all rules of a schema may cost together. */
const TOTAL_COST_LIMIT = 100_000_000
/** So many of the dearest rules are named, when they take a hundredth of the limit or more. */
const NAMED = 4

interface RuleCost {
  readonly at: FieldPath
  readonly cost: number
}

export class TotalCost {
  #total = 0
  readonly #dearest: RuleCost[] = []

  add(at: FieldPath, cost: number): void {
    this.#total += cost
    if (cost < TOTAL_COST_LIMIT / 100) return
    this.#dearest.push({ at, cost })
    this.#dearest.sort((a, b) => b.cost - a.cost)
    this.#dearest.length = Math.min(this.#dearest.length, NAMED)
  }

  errors(path: FieldPath): Errors {
    if (this.#total <= TOTAL_COST_LIMIT) return []
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...this.#dearest.map(({ at }) => forbidden(at, 'contributed to the estimated cost of all rules of the schema')),
      forbidden(path, costError(what, this.#total, TOTAL_COST_LIMIT)),
    ]
  }
}

export function costError(what: string, cost: number, limit: number): string {
  const times = cost / limit
  const factor = times > 100 ? 'more than 100x' : `${times.toFixed(times < 1.5 ? 6 : 1)}x`
  const advice = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength'
  return `${what} exceeds budget by factor of ${factor} (${advice} where arrays, maps, and strings are declared)`
}
