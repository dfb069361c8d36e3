/**
 * Thread: pool. From a request to the entries (webhooks, policies) whose rules are for it. What the rules say is decided once
 * for each operation, resource and scope and remembered until an entry or a served resource changes: a request then pays
 * one lookup, however many entries there are.
 */
import type { AdmissionKinds, ServedKind } from './admission-kinds.js'
import { EquivalentKinds } from './equivalent-kinds.js'
import { isInCluster, type RuleTarget } from './request-rule.js'
import { ANY_NAME, matchEntry, namesObjects, type RuledEntry, type RuleMatch } from './rule-match.js'

/** An entry that is for a request. */
export interface Candidate<E> {
  readonly entry: E
  /** The place of the entry among all. */
  readonly index: number
  /** The version that the entry asked for; undefined when it is the request's own. */
  readonly equivalent: ServedKind | undefined
  /** Whether the entry has rules for objects of certain names: then it is for a request only if `match` says so. */
  readonly byName: boolean
}

/** The most requests that are remembered; custom resources come and go. */
const MAX_REMEMBERED = 20_000

export class RuleIndex<E extends RuledEntry> {
  readonly equivalents: EquivalentKinds
  readonly #kinds: AdmissionKinds
  readonly #remembered = new Map<string, readonly Candidate<E>[]>()
  #entries: readonly E[] = []
  #generation: unknown

  constructor(kinds: AdmissionKinds) {
    this.#kinds = kinds
    this.equivalents = new EquivalentKinds(kinds)
  }

  get size(): number {
    return this.#entries.length
  }

  /** The entries from now on, in the order in which they are asked. */
  set(entries: readonly E[]): void {
    this.#entries = entries
    this.#remembered.clear()
  }

  candidates(target: RuleTarget): readonly Candidate<E>[] {
    const generation = this.#kinds.generation()
    if (generation !== this.#generation || this.#remembered.size > MAX_REMEMBERED) {
      this.#remembered.clear()
      this.#generation = generation
    }
    const { operation, resource, subresource } = target
    const scope = isInCluster(target) ? 'c' : 'n'
    const key = `${scope}${operation} ${resource.resource}.${resource.version}.${resource.group}/${subresource}`
    let found = this.#remembered.get(key)
    if (found === undefined) {
      found = this.#find(target)
      this.#remembered.set(key, found)
    }
    return found
  }

  /** How a candidate is for an object of this name; undefined when its rules name others. */
  match({ entry, equivalent, byName }: Candidate<E>, target: RuleTarget, name: string): RuleMatch | undefined {
    return byName ? matchEntry(entry, target, name, this.equivalents) : { equivalent }
  }

  #find(target: RuleTarget): readonly Candidate<E>[] {
    const found: Candidate<E>[] = []
    for (const [index, entry] of this.#entries.entries()) {
      const match = matchEntry(entry, target, ANY_NAME, this.equivalents)
      if (match !== undefined) found.push({ entry, index, ...match, byName: namesObjects(entry) })
    }
    return found
  }
}
