/**
 * Thread: any. The user that the claims of a verified token stand for, by the rules of one issuer: claims are held against
 * their rules, mapped to name, uid, groups and extra, and the user is held against the rules for users.
 */
import { MATCH_CONDITIONS_COST_BUDGET } from '../../api/cel/limits.js'
import { type CostBudget, EvaluationError } from '../../api/cel/program.js'
import { isList, listItems } from '../../api/cel/values/lists.js'
import type { CelValue } from '../../api/cel/values/value.js'
import type { Json, JsonObject } from '../../api/object.js'
import type { UserInfo } from '../../api/user-info.js'
import type {
  ClaimRule,
  ClaimSource,
  ExpressionRule,
  JwtAuthenticatorConfig,
} from '../../protocol/server-credentials.js'
import {
  CLAIMS_ENVIRONMENT,
  ConfiguredExpression,
  configuredCondition,
  USER_ENVIRONMENT,
} from '../configuration-expression.js'
import { InvalidCredentials } from '../interface.js'

/**
 * What all expressions for one token may cost together. kube-apiserver bounds each one alone; here they run in the thread
 * that serves everybody, so a file with many of them must not hold it for longer than match conditions may.
 */
const TOKEN_COST_BUDGET = MATCH_CONDITIONS_COST_BUDGET

const refused = (why: string): InvalidCredentials => new InvalidCredentials(`oidc: ${why}`)

/** Throws InvalidCredentials. */
type Rule<T> = (value: T, budget: CostBudget) => void
type Source<T> = (claims: JsonObject, budget: CostBudget) => T

export class JwtUser {
  readonly #claimRules: readonly Rule<JsonObject>[]
  readonly #userRules: readonly Rule<JsonObject>[]
  readonly #username: Source<string>
  readonly #groups: Source<string[]>
  readonly #uid: Source<string>
  readonly #extra: readonly { readonly key: string; readonly values: Source<string[]> }[]

  constructor(config: JwtAuthenticatorConfig) {
    this.#claimRules = config.claimValidationRules.map(claimRule)
    this.#userRules = config.userValidationRules.map((rule) => expressionRule(rule, 'user'))
    this.#username = usernameSource(config.username)
    this.#groups = config.groups === undefined ? () => [] : textsSource(config.groups, 'groups')
    this.#uid = config.uid === undefined ? () => '' : uidSource(config.uid)
    this.#extra = config.extra.map(({ key, valueExpression }) => ({
      key,
      values: textsSource({ expression: valueExpression }, `extra ${key}`),
    }))
  }

  /** Throws InvalidCredentials. */
  of(claims: JsonObject): UserInfo {
    const budget: CostBudget = { remaining: TOKEN_COST_BUDGET }
    for (const holds of this.#claimRules) holds(claims, budget)
    const name = this.#username(claims, budget)
    const groups = this.#groups(claims, budget)
    const uid = this.#uid(claims, budget)
    const extra: Record<string, string[]> = {}
    for (const { key, values } of this.#extra) {
      const found = values(claims, budget)
      if (found.length > 0) extra[key] = found
    }
    if (this.#userRules.length > 0) {
      const user = { username: name, uid, groups, extra }
      for (const holds of this.#userRules) holds(user, budget)
    }
    return { name, uid, groups, extra }
  }
}

function claimRule(rule: ClaimRule): Rule<JsonObject> {
  if ('expression' in rule) return expressionRule(rule, 'claims')
  const { claim, requiredValue } = rule
  return (claims) => {
    if (claimOf(claims, claim) !== requiredValue) throw refused(`the claim ${claim} is not as required`)
  }
}

function expressionRule({ expression, message }: ExpressionRule, name: 'claims' | 'user'): Rule<JsonObject> {
  const condition = configuredCondition(expression, name === 'claims' ? CLAIMS_ENVIRONMENT : USER_ENVIRONMENT)
  return (value, budget) => {
    const result = condition.evaluate({ [name]: value }, budget)
    if (result instanceof EvaluationError) throw refused(`the expression '${expression}' failed: ${result.message}`)
    if (result !== true) throw refused(message === '' ? `validation expression '${expression}' failed` : message)
  }
}

function usernameSource(source: ClaimSource): Source<string> {
  if ('expression' in source) {
    const text = textOf(source.expression, 'username')
    return (claims, budget) => {
      const name = text(claims, budget)
      if (name === '') throw refused('the expression of the username gives an empty one')
      return name
    }
  }
  const { claim, prefix } = source
  return (claims) => {
    const value = claimOf(claims, claim)
    if (typeof value !== 'string' || value === '') throw refused(`the claim ${claim} is missing or no text`)
    const verified = claims['email_verified']
    // An address that nobody has verified may be anybody's.
    if (claim === 'email' && verified !== undefined && verified !== true)
      throw refused('the email address is not verified')
    return `${prefix}${value}`
  }
}

function uidSource(source: ClaimSource): Source<string> {
  if ('expression' in source) return textOf(source.expression, 'uid')
  const { claim } = source
  return (claims) => {
    const value = claimOf(claims, claim)
    if (typeof value !== 'string') throw refused(`the claim ${claim} is missing or no text`)
    return value
  }
}

/** Texts of a claim that is one or a list of them; what is missing, null or empty stands for none. */
function textsSource(source: ClaimSource, what: string): Source<string[]> {
  if ('expression' in source) {
    const expression = new ConfiguredExpression(source.expression, CLAIMS_ENVIRONMENT)
    return (claims, budget) => textsOf(evaluated(expression, claims, budget, what), what)
  }
  const { claim, prefix } = source
  return (claims) => {
    const value = claimOf(claims, claim)
    if (value === undefined || value === null) return []
    const all = Array.isArray(value) ? value : [value]
    if (!all.every((one) => typeof one === 'string')) throw refused(`the claim ${claim} is not text`)
    return all.map((one) => `${prefix}${one}`)
  }
}

/** Only what the token itself says: a claim is never something that every object has. */
const claimOf = (claims: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

function textOf(source: string, what: string): Source<string> {
  const expression = new ConfiguredExpression(source, CLAIMS_ENVIRONMENT)
  return (claims, budget) => {
    const value = evaluated(expression, claims, budget, what)
    if (typeof value !== 'string') throw refused(`the expression of the ${what} gives no text`)
    return value
  }
}

function evaluated(expression: ConfiguredExpression, claims: JsonObject, budget: CostBudget, what: string): CelValue {
  const value = expression.evaluate({ claims }, budget)
  if (value instanceof EvaluationError) throw refused(`the expression of the ${what} failed: ${value.message}`)
  return value
}

function textsOf(value: CelValue, what: string): string[] {
  if (value === null || value === '') return []
  const all = typeof value === 'string' ? [value] : isList(value) ? listItems(value) : undefined
  if (all === undefined || !all.every((one) => typeof one === 'string'))
    throw refused(`the expression of the ${what} gives neither a text nor a list of texts`)
  return [...all] as string[]
}
