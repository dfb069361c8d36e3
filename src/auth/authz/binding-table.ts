/** Thread: any. Who has which role, in one scope (the cluster or a namespace): by user and by group, without a search. */
import type { RoleRules } from './policy-rule.js'

/** The place of a role: bindings may name one that is not there, or not yet. */
export interface RoleCell {
  readonly kind: string
  readonly key: string
  readonly name: string
  rules: RoleRules | undefined
  /** How many bindings point at the cell; one without any and without a role is removed. */
  uses: number
}

export interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace: string
}

export interface Grant {
  readonly binding: Binding
  readonly subject: Subject
}

export interface Binding {
  readonly name: string
  /** The namespace of the binding; '' for a ClusterRoleBinding. */
  readonly namespace: string
  readonly subjects: readonly Subject[]
  readonly role: RoleCell
}

export const serviceAccountUser = (namespace: string, name: string): string =>
  `system:serviceaccount:${namespace}:${name}`

export class BindingTable {
  readonly #bindings = new Map<string, Binding>()
  readonly #byUser = new Map<string, Grant[]>()
  readonly #byGroup = new Map<string, Grant[]>()

  get size(): number {
    return this.#bindings.size
  }

  all(): Iterable<Binding> {
    return this.#bindings.values()
  }

  ofUser(name: string): readonly Grant[] | undefined {
    return this.#byUser.get(name)
  }

  ofGroup(name: string): readonly Grant[] | undefined {
    return this.#byGroup.get(name)
  }

  put(binding: Binding): void {
    this.#bindings.set(binding.name, binding)
    for (const subject of binding.subjects) {
      const place = this.#place(subject, binding.namespace)
      if (place === undefined) continue
      const grants = place.map.get(place.name)
      if (grants === undefined) place.map.set(place.name, [{ binding, subject }])
      // A binding that names somebody again gives nothing more, and everybody who asks would look at it again.
      else if (grants.at(-1)!.binding !== binding) grants.push({ binding, subject })
    }
  }

  /** Takes a binding out; gives it back when it was there. */
  delete(name: string): Binding | undefined {
    const binding = this.#bindings.get(name)
    if (binding === undefined) return undefined
    this.#bindings.delete(name)
    // Each list is gone through once, however often the binding names the same subject.
    const done = new Set<readonly Grant[]>()
    for (const subject of binding.subjects) {
      const place = this.#place(subject, binding.namespace)
      const grants = place?.map.get(place.name)
      if (place === undefined || grants === undefined || done.has(grants)) continue
      const kept = grants.filter((grant) => grant.binding !== binding)
      done.add(kept)
      if (kept.length === 0) place.map.delete(place.name)
      else place.map.set(place.name, kept)
    }
    return binding
  }

  #place({ kind, name, namespace }: Subject, bindingNamespace: string) {
    if (kind === 'User') return { map: this.#byUser, name }
    if (kind === 'Group') return { map: this.#byGroup, name }
    // In the binding of a namespace an account without a namespace is of that one.
    const home = namespace === '' ? bindingNamespace : namespace
    if (kind !== 'ServiceAccount' || home === '') return undefined
    return { map: this.#byUser, name: serviceAccountUser(home, name) }
  }
}
