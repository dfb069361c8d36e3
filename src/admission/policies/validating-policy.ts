/** Thread: pool. What the expressions of a ValidatingAdmissionPolicy say of a request, and what that means by its failure policy. */
import { MAX_MESSAGE_SIZE, RUNTIME_COST_BUDGET } from '../../api/cel/limits.js'
import { BOOL, NULL, STRING } from '../../api/cel/types.js'
import type { ValidatingAdmissionPolicy } from '../../api/generated/kinds/admissionregistration.v1.js'
import type { Clock } from '../../lib/clock.js'
import { admissionEnvironment } from '../expressions/admission-environment.js'
import { compileExpression } from '../expressions/admission-expression.js'
import { ConditionMatcher } from '../expressions/condition-matcher.js'
import type { ConditionMetrics } from '../expressions/condition-metrics.js'
import { type Evaluated, ExpressionGroup, type GroupResult, OUT_OF_BUDGET } from '../expressions/expression-group.js'
import type { ExpressionInput } from '../expressions/expression-input.js'
import { storedVariables } from '../expressions/policy-variables.js'

/** What one validation came to, or all of them together where none could be looked at. */
export interface PolicyDecision {
  readonly action: 'admit' | 'deny'
  readonly evaluation: 'admit' | 'deny' | 'error'
  readonly message: string
  /** Undefined: Invalid. */
  readonly reason?: string | undefined
  readonly elapsedMs: number
}

export type AnnotationResult =
  | { readonly key: string; readonly value: string }
  | { readonly key: string; readonly error: string; readonly elapsedMs: number }

export interface ValidationResult {
  readonly decisions: readonly PolicyDecision[]
  readonly annotations: readonly AnnotationResult[]
}

const NOTHING: ValidationResult = { decisions: [], annotations: [] }
const ADMITTED: PolicyDecision = { action: 'admit', evaluation: 'admit', message: '', elapsedMs: 0 }

export class ValidatingEvaluator {
  readonly #name: string
  readonly #spec: NonNullable<ValidatingAdmissionPolicy['spec']>
  readonly #onError: 'admit' | 'deny'
  readonly #conditions: ConditionMatcher | undefined
  readonly #metrics: ConditionMetrics
  readonly #validations: ExpressionGroup
  readonly #messages: ExpressionGroup
  readonly #annotations: ExpressionGroup

  constructor({ metadata, spec = {} }: ValidatingAdmissionPolicy, clock: Clock, metrics: ConditionMetrics) {
    const params = Boolean(spec.paramKind)
    const variables = storedVariables(spec.variables ?? [], { params })
    const environment = admissionEnvironment('stored', { params, authorizer: true, variables: variables.type })
    const quiet = admissionEnvironment('stored', { params, authorizer: false, variables: variables.type })
    const group = (expressions: ConstructorParameters<typeof ExpressionGroup>[0]): ExpressionGroup =>
      new ExpressionGroup(expressions, variables, () => clock.monotonicMs())
    const validations = spec.validations ?? []
    const conditions = spec.matchConditions ?? []
    this.#name = metadata?.name ?? ''
    this.#spec = spec
    this.#onError = spec.failurePolicy === 'Ignore' ? 'admit' : 'deny'
    this.#metrics = metrics
    this.#conditions =
      conditions.length === 0 ? undefined : new ConditionMatcher(conditions, clock, { params }, variables)
    this.#validations = group(
      validations.map(({ expression = '' }) => compileExpression(expression, environment, [BOOL])),
    )
    this.#messages = group(
      validations.map(({ messageExpression = '' }) =>
        messageExpression === '' ? undefined : compileExpression(messageExpression, quiet, [STRING]),
      ),
    )
    this.#annotations = group(
      (spec.auditAnnotations ?? []).map(({ valueExpression = '' }) =>
        compileExpression(valueExpression, environment, [STRING, NULL]),
      ),
    )
  }

  /** Throws what an authorizer throws that has to ask somebody else. */
  validate(input: ExpressionInput): ValidationResult {
    const undecided = this.#undecided(input)
    if (undecided !== undefined) return undecided
    const budget = { remaining: RUNTIME_COST_BUDGET }
    const results = this.#validations.evaluate(input, budget)
    if (results === OUT_OF_BUDGET) return this.#failed(OUT_OF_BUDGET)
    // Messages may not ask what the user may do: they would tell it.
    const unauthorized = { ...input, authorizer: undefined }
    const messages = this.#messages.evaluate(unauthorized, budget)
    const decisions = results.map((result, i) => this.#decision(result!, i, messages))
    const annotations = this.#annotations.evaluate(unauthorized, { remaining: RUNTIME_COST_BUDGET })
    if (annotations === OUT_OF_BUDGET) return this.#failed(OUT_OF_BUDGET)
    return { decisions, annotations: annotations.flatMap((result, i) => this.#annotation(result!, i)) }
  }

  /** The result when match conditions leave the request out, or cannot be decided. */
  #undecided(input: ExpressionInput): ValidationResult | undefined {
    if (this.#conditions === undefined) return undefined
    const verdict = this.#conditions.decide({ ...input, namespace: undefined })
    this.#metrics.decided(this.#name, input.request.attributes.operation, verdict)
    if (verdict.matches) return undefined
    return verdict.error === undefined || this.#onError === 'admit' ? NOTHING : this.#failed(verdict.error)
  }

  #failed(message: string, elapsedMs = 0): ValidationResult {
    return { decisions: [{ action: this.#onError, evaluation: 'error', message, elapsedMs }], annotations: [] }
  }

  #decision({ value, error, elapsedMs }: Evaluated, i: number, messages: GroupResult): PolicyDecision {
    if (error !== undefined) return { action: this.#onError, evaluation: 'error', message: error, elapsedMs }
    if (messages === OUT_OF_BUDGET)
      return {
        action: this.#onError,
        evaluation: 'error',
        message: `failed messageExpression: ${OUT_OF_BUDGET}`,
        elapsedMs,
      }
    if (value === true) return ADMITTED
    const { expression = '', message = '', reason } = this.#spec.validations![i]!
    const told = evaluatedMessage(messages[i]) || message.trim() || `failed expression: ${expression.trim()}`
    return { action: 'deny', evaluation: 'deny', message: told, reason: reason ?? undefined, elapsedMs }
  }

  #annotation({ value, error, elapsedMs }: Evaluated, i: number): readonly AnnotationResult[] {
    const { key = '' } = this.#spec.auditAnnotations![i]!
    if (error !== undefined) return this.#onError === 'admit' ? [] : [{ key, error, elapsedMs }]
    const text = typeof value === 'string' ? value.trim() : ''
    return text === '' ? [] : [{ key, value: text }]
  }
}

/** '' when the expression gave none that may be shown: none at all, one that is too long or has several lines. */
function evaluatedMessage(result: Evaluated | undefined): string {
  const text = typeof result?.value === 'string' ? result.value.trim() : ''
  return Buffer.byteLength(text) > MAX_MESSAGE_SIZE || text.includes('\n') ? '' : text
}
