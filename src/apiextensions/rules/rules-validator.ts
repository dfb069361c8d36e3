/**
 * Thread: any. The rules of a schema, evaluated on an object. Rules that speak of `oldSelf` are evaluated where there is an old
 * value that belongs to the new one. What others find wrong with a value that did not change is a warning. All rules together
 * have one budget: when it is spent, the object is refused and nothing more is evaluated.
 */
import { RUNTIME_COST_BUDGET } from '../../api/cel/limits.js'
import { type Activation, type CostBudget, EvaluationError, type Program } from '../../api/cel/program.js'
import { Optional } from '../../api/cel/values/optional.js'
import { type FieldError, FieldPath, invalid, OMITTED } from '../../api/field-error.js'
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'
import { describeFieldError } from '../../api/status.js'
import { oldField, oldItems } from '../schema/correlation.js'
import { NOWHERE } from '../schema/schema-validator.js'
import type { CompiledRule } from './compiled-rule.js'
import { Ratchet } from './ratchet.js'
import { defaultMessage, failure, ruleText, shownMessage } from './rule-failure.js'
import type { RulesNode } from './rules-node.js'

const NO_OVERLOAD = 'no such overload'
const CALL_TOO_EXPENSIVE = 'operation cancelled: actual cost limit exceeded'
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

/** As Kubernetes writes the path of the object itself. */
const WHOLE_OBJECT = FieldPath.of(NOWHERE)

/** A step on the way to a value: a field, a key of a map, an index. */
type Step = string | number | { readonly key: string }

/** A value, and the one that it was before, where one belongs to it. */
interface Change {
  readonly value: Json
  readonly old: Json | undefined
  readonly ratchet: Ratchet
}

export class RulesValidator {
  readonly errors: FieldError[] = []
  readonly warnings: string[] = []
  readonly #budget: CostBudget
  readonly #steps: Step[] = []
  readonly #base: FieldPath
  #isStopped = false

  /** `base`: where the value stands. `budget`: what is left for it, when others share it. */
  constructor(base: FieldPath = FieldPath.of(), budget: CostBudget = { remaining: RUNTIME_COST_BUDGET }) {
    this.#base = base
    this.#budget = budget
  }

  /** `ratchet`: when not given, what the object had before is held against nobody. */
  validate(rules: RulesNode, value: Json, old: Json | undefined, ratchet?: Ratchet): void {
    const whole = old === undefined ? Ratchet.NONE : Ratchet.ofObject(rules.node, value, old)
    this.#value(rules, { value, old, ratchet: ratchet ?? whole })
  }

  /** Null is no value: whether it may stand there is for rules above it to say. */
  #value(rules: RulesNode, change: Change): void {
    const { value } = change
    if (this.#isStopped || value === null) return
    if (rules.rules.length > 0) this.#rules(rules, change)
    if (Array.isArray(value)) this.#list(rules, value, change)
    else if (isJsonObject(value)) this.#object(rules, value, change)
  }

  #list(rules: RulesNode, list: readonly Json[], { old, ratchet }: Change): void {
    const { items } = rules
    if (items === undefined) return
    const before = old === undefined ? undefined : oldItems(rules.node, old)
    for (let i = 0; i < list.length && !this.#isStopped; i++) {
      const value = list[i]!
      const item = before?.get(value)
      this.#step(i, items, { value, old: item, ratchet: ratchet.below(items.node, value, item) })
    }
  }

  #object(rules: RulesNode, object: JsonObject, change: Change): void {
    const { additional } = rules
    if (additional !== undefined)
      for (const key in object) this.#field({ key }, key, rules, additional, object[key] ?? null, change)
    for (const [name, property] of rules.properties)
      if (Object.hasOwn(object, name)) this.#field(name, name, rules, property, object[name] ?? null, change)
  }

  #field(step: Step, name: string, rules: RulesNode, child: RulesNode, value: Json, { old, ratchet }: Change): void {
    const isThere = isJsonObject(old) && Object.hasOwn(old, name)
    const correlated = old === undefined ? undefined : oldField(rules.node, name, old)
    this.#step(step, child, {
      value,
      old: isThere ? (old[name] ?? undefined) : undefined,
      ratchet: ratchet.field(name, child.node, value, correlated),
    })
  }

  #step(step: Step, rules: RulesNode, change: Change): void {
    this.#steps.push(step)
    this.#value(rules, change)
    this.#steps.pop()
  }

  #rules(rules: RulesNode, change: Change): void {
    if (this.#budget.remaining <= 0) {
      this.#stop(OUT_OF_BUDGET, rules)
      return
    }
    for (const compiled of rules.rules) {
      if (this.#isStopped) return
      if (compiled.error !== undefined) this.#invalid(`rule compile error: ${compiled.error}`, rules)
      else if (compiled.program !== undefined) this.#rule(compiled, compiled.program, rules, change)
    }
  }

  #rule(compiled: CompiledRule, program: Program, rules: RulesNode, change: Change): void {
    const { rule, usesOldSelf } = compiled
    const { value, old } = change
    const isOptional = rule.optionalOldSelf === true
    if (usesOldSelf && old === undefined && !isOptional) return
    const oldSelf = isOptional ? (old === undefined ? Optional.NONE : new Optional(rules.read(old))) : old
    const result = this.#evaluate(program, { self: value, oldSelf }, rules)
    if (result === true || this.#isStopped) return
    if (result instanceof EvaluationError) this.#failed(result.message, rule, rules)
    else this.#refuse(compiled, rules, change)
  }

  #evaluate(program: Program, activation: Activation, rules: RulesNode): ReturnType<Program['evaluate']> {
    const result = program.evaluate(activation, this.#budget)
    if (this.#budget.remaining < 0) this.#stop(OUT_OF_BUDGET, rules)
    return result
  }

  #failed(message: string, rule: CompiledRule['rule'], rules: RulesNode): void {
    if (message.startsWith(CALL_TOO_EXPENSIVE)) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for rule'
      this.#stop(`'${message}': ${why}: ${ruleText(rule)}`, rules)
    } else if (message.startsWith(NO_OVERLOAD)) {
      const why = 'call arguments did not match a supported operator, function or macro signature for rule'
      this.#invalid(`'${message}': ${why}: ${ruleText(rule)}`, rules)
    } else this.#invalid(`${message} evaluating rule: ${ruleText(rule)}`, rules)
  }

  #refuse(compiled: CompiledRule, rules: RulesNode, change: Change): void {
    const { rule, path, usesOldSelf } = compiled
    const { type = '' } = rules.node.schema
    const at = this.#path(path)
    const value = type === 'object' || type === 'array' ? OMITTED : change.value
    const made = compiled.message === undefined ? undefined : this.#message(compiled.message, compiled, change)
    const error =
      made instanceof EvaluationError
        ? invalid(at, type, made.message)
        : failure(rule, at, value, made ?? defaultMessage(rule))
    if (!usesOldSelf && change.ratchet.isUnchanged) this.warnings.push(`${at}: ${describeFieldError(error)}`)
    else this.errors.push(error)
  }

  /** Undefined when the expression fails, whatever for: the message without it is shown. An error when it cost too much. */
  #message(program: Program, { rule }: CompiledRule, { value, old }: Change): string | EvaluationError | undefined {
    // Kubernetes does not make an optional of the old value for messages.
    const result = program.evaluate({ self: value, oldSelf: old }, this.#budget)
    const tooExpensive = result instanceof EvaluationError && result.message.startsWith(CALL_TOO_EXPENSIVE)
    this.#isStopped = tooExpensive || this.#budget.remaining < 0
    if (this.#budget.remaining < 0)
      return new EvaluationError(
        'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
      )
    if (tooExpensive) {
      const why = 'no further validation rules will be run due to call cost exceeds limit for messageExpression'
      return new EvaluationError(`${why}: ${JSON.stringify(rule.messageExpression)}`)
    }
    return result instanceof EvaluationError ? undefined : shownMessage(result)
  }

  #stop(detail: string, rules: RulesNode): void {
    this.#isStopped = true
    this.#invalid(detail, rules)
  }

  #invalid(detail: string, { node }: RulesNode): void {
    this.errors.push(invalid(this.#path(), node.schema.type ?? '', detail))
  }

  /** `more`: what a rule adds to the path of its value. */
  #path(more = ''): FieldPath {
    const path = this.#steps.reduce<FieldPath>((path, step) => {
      if (typeof step === 'object') return path.key(step.key)
      return typeof step === 'number' ? path.index(step) : path.child(step)
    }, this.#base)
    if (more !== '') return path.child(more)
    return path.toString() === '' ? WHOLE_OBJECT : path
  }
}
