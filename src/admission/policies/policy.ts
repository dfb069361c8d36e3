/** Thread: pool. A policy with its bindings, as requests find it: what it matches, and an evaluator that is compiled on first use. */
import type { MatchResources, ParamKind, ParamRef } from '../../api/generated/kinds/admissionregistration.v1.js'
import { type MatchedResources, matchedResources } from '../matching/match-resources.js'

/** What validating and mutating policies have in common, as they are stored. */
export interface RawPolicy {
  readonly metadata?: { readonly name?: string }
  readonly spec?: {
    readonly paramKind?: ParamKind | null
    readonly matchConstraints?: MatchResources
    readonly failurePolicy?: string | null
  }
}

export interface RawBinding {
  readonly metadata?: { readonly name?: string }
  readonly spec?: {
    readonly policyName?: string
    readonly paramRef?: ParamRef | null
    readonly matchResources?: MatchResources | null
    readonly validationActions?: readonly string[] | null
  }
}

export interface PolicyBinding {
  readonly name: string
  readonly policyName: string
  readonly paramRef: ParamRef | undefined
  readonly match: MatchedResources
  readonly validationActions: readonly string[]
}

export const bindingOf = ({ metadata, spec }: RawBinding): PolicyBinding => ({
  name: metadata?.name ?? '',
  policyName: spec?.policyName ?? '',
  paramRef: spec?.paramRef ?? undefined,
  match: matchedResources(spec?.matchResources ?? undefined),
  validationActions: spec?.validationActions ?? [],
})

/** A policy without its bindings. `E` is what it evaluates with. */
export class Policy<R extends RawPolicy, E> {
  readonly name: string
  readonly match: MatchedResources
  readonly paramKind: ParamKind | undefined
  readonly ignoresFailures: boolean
  readonly #raw: R
  readonly #compile: (raw: R) => E
  #evaluator: E | undefined

  constructor(raw: R, compile: (raw: R) => E) {
    this.name = raw.metadata?.name ?? ''
    this.match = matchedResources(raw.spec?.matchConstraints)
    this.paramKind = raw.spec?.paramKind ?? undefined
    this.ignoresFailures = raw.spec?.failurePolicy === 'Ignore'
    this.#raw = raw
    this.#compile = compile
  }

  get evaluator(): E {
    this.#evaluator ??= this.#compile(this.#raw)
    return this.#evaluator
  }
}

/** A policy that is in force: it has at least one binding. */
export interface BoundPolicy<E> extends MatchedResources {
  readonly policy: { readonly evaluator: E } & Pick<
    Policy<RawPolicy, E>,
    'name' | 'match' | 'paramKind' | 'ignoresFailures'
  >
  readonly bindings: readonly PolicyBinding[]
}
