/** Thread: pool. The expressions of a MutatingAdmissionPolicy: whether it is for a request, and what each of its mutations changes. */
import { RUNTIME_COST_BUDGET } from '../../api/cel/limits.js'
import { listOf } from '../../api/cel/types.js'
import type { MutatingAdmissionPolicy } from '../../api/generated/kinds/admissionregistration.v1.js'
import type { Json, JsonObject } from '../../api/object.js'
import type { Clock } from '../../lib/clock.js'
import { admissionEnvironment } from '../expressions/admission-environment.js'
import { compileExpression } from '../expressions/admission-expression.js'
import { ConditionMatcher, type ConditionVerdict } from '../expressions/condition-matcher.js'
import type { ConditionMetrics } from '../expressions/condition-metrics.js'
import { ExpressionGroup, OUT_OF_BUDGET } from '../expressions/expression-group.js'
import type { ExpressionInput } from '../expressions/expression-input.js'
import { findPatchType, JSON_PATCH, OBJECT } from '../expressions/patch-types.js'
import { storedVariables } from '../expressions/policy-variables.js'
import { MutationError } from './mutation-error.js'
import { configurationOf, operationsOf } from './patch-values.js'

/** A change of the object. */
export type Change =
  | { readonly type: 'ApplyConfiguration'; readonly configuration: JsonObject }
  | { readonly type: 'JSONPatch'; readonly operations: Json[] }

interface CompiledMutation {
  readonly type: Change['type']
  readonly group: ExpressionGroup
}

const APPLIED = [findPatchType(OBJECT)!]
const PATCHES = [listOf(JSON_PATCH)]

export class MutatingEvaluator {
  readonly isReinvoked: boolean
  /** How many mutations there are. */
  readonly size: number
  readonly #name: string
  readonly #conditions: ConditionMatcher | undefined
  readonly #metrics: ConditionMetrics
  readonly #mutations: readonly CompiledMutation[]

  constructor({ metadata, spec = {} }: MutatingAdmissionPolicy, clock: Clock, metrics: ConditionMetrics) {
    const params = Boolean(spec.paramKind)
    const variables = storedVariables(spec.variables ?? [], { params })
    const names = { params, authorizer: true, patches: true, variables: variables.type }
    const environment = admissionEnvironment('stored', names)
    const conditions = spec.matchConditions ?? []
    this.#name = metadata?.name ?? ''
    this.isReinvoked = spec.reinvocationPolicy === 'IfNeeded'
    this.#metrics = metrics
    this.#conditions =
      conditions.length === 0 ? undefined : new ConditionMatcher(conditions, clock, { params }, variables)
    this.#mutations = (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => {
      const type = patchType === 'JSONPatch' ? 'JSONPatch' : 'ApplyConfiguration'
      const source = (type === 'JSONPatch' ? jsonPatch : applyConfiguration)?.expression ?? ''
      const compiled = compileExpression(source, environment, type === 'JSONPatch' ? PATCHES : APPLIED)
      return { type, group: new ExpressionGroup([compiled], variables, () => clock.monotonicMs()) }
    })
    this.size = this.#mutations.length
  }

  /** Whether match conditions take the request; undefined when there are none. */
  decide(input: ExpressionInput): ConditionVerdict | undefined {
    const verdict = this.#conditions?.decide({ ...input, namespace: undefined })
    if (verdict !== undefined) this.#metrics.decided(this.#name, input.request.attributes.operation, verdict)
    return verdict
  }

  /** What a mutation changes. Throws a MutationError, or what an authorizer throws that has to ask somebody else. */
  change(index: number, input: ExpressionInput): Change {
    const { type, group } = this.#mutations[index]!
    const results = group.evaluate(input, { remaining: RUNTIME_COST_BUDGET })
    if (results === OUT_OF_BUDGET) throw new MutationError(OUT_OF_BUDGET)
    const { value, error } = results[0]!
    if (error !== undefined) throw new MutationError(error)
    return type === 'JSONPatch'
      ? { type, operations: operationsOf(value!) }
      : { type, configuration: configurationOf(value!) }
  }
}
