/**
 * Thread: any. Expressions in configuration files of access: compiled in main, where what is wrong with them is told, and again
 * in each thread that evaluates them. A file counts as written now, so expressions may use what the compatibility version knows.
 */
import { baseEnvironment, type Environment } from '../api/cel/environment.js'
import { type Activation, type CostBudget, compile, EvaluationError, type Program } from '../api/cel/program.js'
import { BOOL, type CelType, DYN, listOf, mapOf, objectOf, STRING, sameType, typeName } from '../api/cel/types.js'
import type { CelValue } from '../api/cel/values/value.js'
import { assert } from '../lib/assert.js'

const STRINGS = listOf(STRING)
const EXTRA = mapOf(STRING, STRINGS)

/** What claims are is up to the issuer: nothing is known of their types. */
export const CLAIMS_ENVIRONMENT = baseEnvironment('new').extend({ variables: { claims: mapOf(STRING, DYN) } })

const USER = objectOf('kubernetes.UserInfo', { username: STRING, uid: STRING, groups: STRINGS, extra: EXTRA })

export const USER_ENVIRONMENT = baseEnvironment('new').extend({ variables: { user: USER }, types: [USER] })

export type CompiledExpression =
  | { readonly program: Program; readonly error: '' }
  | { readonly program: undefined; readonly error: string }

/** `wanted`: the type that the result must have; undefined for any, which is looked at when there is a result. */
export function compileConfigured(source: string, environment: Environment, wanted?: CelType): CompiledExpression {
  const { program, errors } = compile(source, environment)
  if (program === undefined) return { program, error: `compilation failed: ${errors}` }
  if (wanted === undefined || sameType(wanted, program.type)) return { program, error: '' }
  return { program: undefined, error: `must evaluate to ${typeName(wanted)}` }
}

/** One expression of a file that has been found valid. */
export class ConfiguredExpression {
  readonly source: string
  readonly #program: Program

  constructor(source: string, environment: Environment, wanted?: CelType) {
    const { program, error } = compileConfigured(source, environment, wanted)
    assert(program !== undefined, `an expression was valid when its file was read: ${error}`)
    this.source = source
    this.#program = program
  }

  /** The budget is shared with the other expressions that are evaluated for one token or one question. */
  evaluate(activation: Activation, budget: CostBudget): CelValue | EvaluationError {
    if (budget.remaining < 0) return new EvaluationError('the expressions cost too much together')
    return this.#program.evaluate(activation, budget)
  }
}

/** An expression that says yes or no. */
export const configuredCondition = (source: string, environment: Environment): ConfiguredExpression =>
  new ConfiguredExpression(source, environment, BOOL)
