/** Thread: pool. Under which other names the objects of a resource are served, remembered until a served resource changes. */
import type { AdmissionKinds, ServedKind } from './admission-kinds.js'
import type { RuleTarget } from './request-rule.js'

/** The most resources and subresources that are remembered; custom resources come and go. */
const MAX_REMEMBERED = 5_000

export class EquivalentKinds {
  readonly #kinds: AdmissionKinds
  readonly #remembered = new Map<string, readonly ServedKind[]>()
  #generation: unknown

  constructor(kinds: AdmissionKinds) {
    this.#kinds = kinds
  }

  of({ resource, subresource }: RuleTarget): readonly ServedKind[] {
    const generation = this.#kinds.generation()
    if (generation !== this.#generation || this.#remembered.size > MAX_REMEMBERED) {
      this.#remembered.clear()
      this.#generation = generation
    }
    const key = `${resource.resource}.${resource.version}.${resource.group}/${subresource}`
    let found = this.#remembered.get(key)
    if (found === undefined) {
      found = this.#kinds.equivalents(resource, subresource)
      this.#remembered.set(key, found)
    }
    return found
  }
}
