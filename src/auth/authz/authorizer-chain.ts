/** Thread: any. Authorizers in order: the first that allows or denies decides; when none does, the answer is no. */
import type { UserInfo } from '../../api/user-info.js'
import type {
  Attributes,
  Authorizer,
  NonResourceRule,
  ResourceRule,
  RuleResolver,
  RuleSet,
  Verdict,
} from '../interface.js'

const isLater = <T>(value: T | Promise<T>): value is Promise<T> => value instanceof Promise

export class AuthorizerChain implements Authorizer, RuleResolver {
  readonly #authorizers: readonly (Authorizer & RuleResolver)[]

  constructor(authorizers: readonly (Authorizer & RuleResolver)[]) {
    this.#authorizers = authorizers
  }

  authorize(attributes: Attributes): Verdict | Promise<Verdict> {
    return this.#from(0, attributes, [], [])
  }

  async rulesFor(user: UserInfo, namespace: string): Promise<RuleSet> {
    const resourceRules: ResourceRule[] = []
    const nonResourceRules: NonResourceRule[] = []
    const errors: string[] = []
    let incomplete = false
    for (const authorizer of this.#authorizers) {
      const set = await authorizer.rulesFor(user, namespace)
      resourceRules.push(...set.resourceRules)
      nonResourceRules.push(...set.nonResourceRules)
      incomplete ||= set.incomplete
      if (set.error !== '') errors.push(set.error)
    }
    return { resourceRules, nonResourceRules, incomplete, error: aggregate(errors) }
  }

  #from(first: number, attributes: Attributes, reasons: string[], errors: string[]): Verdict | Promise<Verdict> {
    for (let i = first; i < this.#authorizers.length; i++) {
      const verdict = this.#authorizers[i]!.authorize(attributes)
      if (isLater(verdict)) {
        return verdict.then((later) =>
          later.decision === 'no-opinion'
            ? this.#from(i + 1, attributes, ...noted(later, reasons, errors))
            : decided(later, reasons, errors),
        )
      }
      if (verdict.decision !== 'no-opinion') return decided(verdict, reasons, errors)
      noted(verdict, reasons, errors)
    }
    const error = errors.length === 0 ? {} : { error: aggregate(errors) }
    return { decision: 'no-opinion', reason: reasons.join('\n'), ...error }
  }
}

function noted(verdict: Verdict, reasons: string[], errors: string[]): [string[], string[]] {
  if (verdict.reason !== '') reasons.push(verdict.reason)
  if (verdict.error !== undefined) errors.push(verdict.error)
  return [reasons, errors]
}

/**
 * The verdict of the authorizer that decided; when authorizers before it gave reasons or errors, these are told with it.
 */
function decided(verdict: Verdict, reasons: string[], errors: string[]): Verdict {
  if (reasons.length === 0 && errors.length === 0) return verdict
  noted(verdict, reasons, errors)
  const error = errors.length === 0 ? {} : { error: aggregate(errors) }
  return { decision: verdict.decision, reason: reasons.join('\n'), ...error }
}

const aggregate = (errors: readonly string[]): string =>
  errors.length <= 1 ? (errors[0] ?? '') : `[${[...new Set(errors)].join(', ')}]`
