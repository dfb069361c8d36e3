/**
 * Thread: any. Authorization, timed and counted as in kube-apiserver: as a whole, and by the authorizer that decided.
 */
import type { UserInfo } from '../../api/user-info.js'
import type { Clock } from '../../lib/clock.js'
import { authFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'
import type { Attributes, Authorizer, RuleResolver, RuleSet, Verdict } from '../interface.js'

const ALLOWED = 0
const DENIED = 1
const NO_OPINION = 2
const ERROR = 3
const RESULTS = ['allowed', 'denied', 'no-opinion', 'error'] as const

/** Times all authorizers together, as requests meet them. */
export class MeteredAuthorizer implements Authorizer {
  readonly #authorizer: Authorizer
  readonly #clock: Clock
  readonly #attempts: readonly Series[]
  readonly #durations: readonly Series[]

  constructor(authorizer: Authorizer, recorder: Recorder, clock: Clock) {
    this.#authorizer = authorizer
    this.#clock = clock
    this.#attempts = RESULTS.map((result) => recorder.series(authFamilies.authorizations, result))
    this.#durations = RESULTS.map((result) => recorder.series(authFamilies.authorizationDuration, result))
  }

  authorize(attributes: Attributes): Verdict | Promise<Verdict> {
    const startedMs = this.#clock.monotonicMs()
    const verdict = this.#authorizer.authorize(attributes)
    if (verdict instanceof Promise) return verdict.then((later) => this.#counted(later, startedMs))
    return this.#counted(verdict, startedMs)
  }

  #counted(verdict: Verdict, startedMs: number): Verdict {
    const result = resultOf(verdict)
    this.#attempts[result]!.add(1)
    this.#durations[result]!.observe((this.#clock.monotonicMs() - startedMs) / 1000)
    return verdict
  }
}

function resultOf({ decision, error }: Verdict): number {
  if (decision === 'allow') return ALLOWED
  if (error !== undefined && error !== '') return ERROR
  return decision === 'deny' ? DENIED : NO_OPINION
}

/** Counts what one authorizer of the chain decides; what it leaves to others is not counted. */
export class CountedAuthorizer implements Authorizer, RuleResolver {
  readonly #authorizer: Authorizer & RuleResolver
  readonly #allowed: Series
  readonly #denied: Series

  constructor(
    authorizer: Authorizer & RuleResolver,
    recorder: Recorder,
    { type, name }: { readonly type: string; readonly name: string },
  ) {
    this.#authorizer = authorizer
    this.#allowed = recorder.series(authFamilies.decisions, type, name, 'allowed')
    this.#denied = recorder.series(authFamilies.decisions, type, name, 'denied')
  }

  authorize(attributes: Attributes): Verdict | Promise<Verdict> {
    const verdict = this.#authorizer.authorize(attributes)
    return verdict instanceof Promise ? verdict.then((later) => this.#counted(later)) : this.#counted(verdict)
  }

  rulesFor(user: UserInfo, namespace: string): RuleSet | Promise<RuleSet> {
    return this.#authorizer.rulesFor(user, namespace)
  }

  #counted(verdict: Verdict): Verdict {
    if (verdict.decision === 'allow') this.#allowed.add(1)
    else if (verdict.decision === 'deny') this.#denied.add(1)
    return verdict
  }
}
