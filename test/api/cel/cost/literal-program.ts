/** A program that takes nothing for known before it runs: costs of the reference are counted so. */
import { check } from '#keelson/api/cel/check/checker.js'
import { compileTree } from '#keelson/api/cel/compile/compiler.js'
import { estimateCost } from '#keelson/api/cel/cost/estimator.js'
import type { Environment } from '#keelson/api/cel/environment.js'
import { parse } from '#keelson/api/cel/parse/parser.js'
import { type Activation, Program } from '#keelson/api/cel/program.js'

export function literalProgram(source: string, environment: Environment): Program {
  const parsed = parse(source, { macros: environment.macros, optionals: true })
  if ('errors' in parsed) throw new Error(parsed.errors[0]!.message)
  const checked = check(parsed.tree, environment)
  if (checked.errors.length > 0) throw new Error(checked.errors[0]!.message)
  return new Program(checked.type, estimateCost(checked, environment), compileTree(checked, { fold: false }))
}

const BUDGET = 10_000_000

/** What an evaluation costs. */
export function costOf(program: Program, given: Activation): number {
  const budget = { remaining: BUDGET }
  program.evaluate(given, budget)
  return BUDGET - budget.remaining
}
