/** What tests of libraries share: an expression without variables, evaluated. */
import { baseEnvironment } from '#keelson/api/cel/environment.js'
import { compile, EvaluationError } from '#keelson/api/cel/program.js'

/** The value, or a text that begins with what went wrong. */
export function evaluate(source: string): unknown {
  const { program, errors } = compile(source, baseEnvironment('new'))
  if (program === undefined) return `compile: ${errors}`
  const value = program.evaluate({})
  return value instanceof EvaluationError ? `error: ${value.message}` : value
}

/** What the evaluation cost. */
export function costOf(source: string): number {
  const { program, errors } = compile(source, baseEnvironment('new'))
  if (program === undefined) throw new Error(errors)
  const budget = { remaining: 10_000_000 }
  program.evaluate({}, budget)
  return 10_000_000 - budget.remaining
}
