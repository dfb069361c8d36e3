/**
 * Thread: pool. All policies of one kind and their bindings as shared memory has them, in the order of their names, indexed by
 * their rules. Whoever is about to be admitted brings it up to the clock first, so a policy is in force for every request
 * that begins after it was written. A policy without a binding is not in force, nor a binding without its policy.
 */
import { ArenaFollower, type FollowedView, type StaleListener } from '../../cacher/read/arena-follower.js'
import type { AdmissionKinds } from '../matching/admission-kinds.js'
import type { RuleTarget } from '../matching/request-rule.js'
import { type Candidate, RuleIndex } from '../matching/rule-index.js'
import { type BoundPolicy, bindingOf, Policy, type PolicyBinding, type RawBinding, type RawPolicy } from './policy.js'

export interface PolicySourceOptions<R extends RawPolicy, E> {
  /** The arenas of the policies and of the bindings. */
  readonly policies: { readonly resource: string; readonly view: FollowedView }
  readonly bindings: { readonly resource: string; readonly view: FollowedView }
  readonly kinds: AdmissionKinds
  readonly compile: (raw: R) => E
  readonly onStale: StaleListener
}

const NONE: readonly never[] = []

export class PolicySource<R extends RawPolicy, E> {
  readonly index: RuleIndex<BoundPolicy<E>>
  readonly #policies: Followed<Policy<R, E>>
  readonly #bindings: Followed<PolicyBinding>

  constructor({ policies, bindings, kinds, compile, onStale }: PolicySourceOptions<R, E>) {
    this.index = new RuleIndex(kinds)
    this.#policies = new Followed(policies, (raw) => new Policy(raw as R, compile), onStale)
    this.#bindings = new Followed(bindings, (raw) => bindingOf(raw as RawBinding), onStale)
  }

  /** Brings the policies up to the clock. False when no state has ever been known. */
  sync(): boolean {
    const known = this.#policies.sync() && this.#bindings.sync()
    if (known && (this.#policies.changed || this.#bindings.changed)) {
      this.#policies.changed = false
      this.#bindings.changed = false
      this.index.set(this.#bound())
    }
    return known
  }

  /** The policies whose rules are for a request. */
  candidates(target: RuleTarget): readonly Candidate<BoundPolicy<E>>[] {
    return this.index.size === 0 ? NONE : this.index.candidates(target)
  }

  #bound(): readonly BoundPolicy<E>[] {
    const bindings = new Map<string, PolicyBinding[]>()
    for (const binding of this.#bindings.values()) {
      const others = bindings.get(binding.policyName)
      if (others === undefined) bindings.set(binding.policyName, [binding])
      else others.push(binding)
    }
    const bound: BoundPolicy<E>[] = []
    for (const policy of this.#policies.values()) {
      const own = bindings.get(policy.name)
      if (own !== undefined) bound.push({ ...policy.match, policy, bindings: own })
    }
    return bound
  }
}

/** The objects of one arena, each made once for each of its revisions. */
class Followed<T> {
  /** Set when something has changed; whoever has taken note takes it back. */
  changed = false
  readonly #follower: ArenaFollower
  /** By key in the arena. */
  readonly #made = new Map<string, T>()

  constructor(
    { resource, view }: { readonly resource: string; readonly view: FollowedView },
    make: (raw: unknown) => T,
    onStale: StaleListener,
  ) {
    this.#follower = new ArenaFollower(
      view,
      {
        reset: () => {
          this.#made.clear()
          this.changed = true
        },
        put: (record) => {
          this.#made.set(record.key, make(JSON.parse(Buffer.from(record.body()).toString())))
          this.changed = true
        },
        delete: (record) => {
          this.#made.delete(record.key)
          this.changed = true
        },
      },
      (stale) => onStale(resource, stale),
    )
  }

  sync(): boolean {
    return this.#follower.sync()
  }

  /** In the order of their names. */
  values(): readonly T[] {
    return [...this.#made].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, one]) => one)
  }
}
