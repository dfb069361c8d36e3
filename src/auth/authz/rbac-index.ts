/**
 * Thread: any but the owner. Roles and bindings as shared memory has them, arranged for decisions: from a user and their
 * groups to bindings to rules. It is brought up to the clock by whoever asks, so a revoked right is gone with the write.
 */

import type { RecordView } from '../../cacher/memory/shared-memory.js'
import {
  ArenaFollower,
  type ArenaSink,
  type FollowedView,
  type StaleListener,
} from '../../cacher/read/arena-follower.js'
import { type Binding, BindingTable, type Grant, type RoleCell, type Subject } from './binding-table.js'
import { policyRulesOf, RoleRules } from './policy-rule.js'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'

/** The shared memory of one resource, by its storage name: `roles.rbac.authorization.k8s.io`. */
export type CacheSource = (resource: string) => FollowedView

interface RawBinding {
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly roleRef?: { readonly kind?: string; readonly name?: string }
  readonly subjects?: readonly { readonly kind?: string; readonly name?: string; readonly namespace?: string }[] | null
}

interface RawRole {
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly rules?: unknown
}

const parsed = (record: RecordView): unknown => JSON.parse(Buffer.from(record.body()).toString())

/** The key of a role; a kind that is neither Role nor ClusterRole leads to a place that no role takes. */
const roleKey = (kind: string, namespace: string, name: string): string =>
  `${kind}/${kind === 'ClusterRole' ? '' : namespace}/${name}`

export class RbacIndex {
  readonly #followers: readonly ArenaFollower[]
  readonly #roles = new Map<string, RoleCell>()
  #clusterBindings = new BindingTable()
  readonly #bindings = new Map<string, BindingTable>()

  constructor(cache: CacheSource, onStale: StaleListener = () => undefined) {
    const follow = (kind: string, sink: ArenaSink): ArenaFollower => {
      const resource = `${kind}.${RBAC_GROUP}`
      return new ArenaFollower(cache(resource), sink, (stale) => onStale(resource, stale))
    }
    this.#followers = [
      follow('roles', this.#roleSink('Role')),
      follow('clusterroles', this.#roleSink('ClusterRole')),
      follow('rolebindings', this.#bindingSink('RoleBinding')),
      follow('clusterrolebindings', this.#bindingSink('ClusterRoleBinding')),
    ]
  }

  /**
   * Brings the index up to the clock; what is not in memory now stays as it was last known. False when some of it has
   * never been known, so that nothing can be decided.
   */
  sync(): boolean {
    let known = true
    for (const follower of this.#followers) if (!follower.sync()) known = false
    return known
  }

  /** The role that a binding names; undefined when there is none. */
  role(kind: string, namespace: string, name: string): RoleRules | undefined {
    return this.#roles.get(roleKey(kind, namespace, name))?.rules
  }

  /**
   * Visits the bindings of the user in the cluster, then in the namespace, until the visitor stops it. Gives whether it
   * was stopped.
   */
  visit(
    user: { readonly name: string; readonly groups: readonly string[] },
    namespace: string,
    stop: (grant: Grant) => boolean,
  ): boolean {
    if (visitTable(this.#clusterBindings, user, stop)) return true
    if (namespace === '') return false
    const table = this.#bindings.get(namespace)
    return table !== undefined && visitTable(table, user, stop)
  }

  #roleSink(kind: 'Role' | 'ClusterRole'): ArenaSink {
    return {
      reset: () => {
        for (const cell of this.#roles.values()) if (cell.kind === kind) this.#emptied(cell)
      },
      put: (record) => {
        const { metadata, rules } = parsed(record) as RawRole
        this.#cell(kind, metadata?.namespace ?? '', metadata?.name ?? '').rules = new RoleRules(policyRulesOf(rules))
      },
      delete: (record) => {
        const { metadata } = parsed(record) as RawRole
        this.#emptied(this.#cell(kind, metadata?.namespace ?? '', metadata?.name ?? ''))
      },
    }
  }

  #bindingSink(kind: 'RoleBinding' | 'ClusterRoleBinding'): ArenaSink {
    return {
      reset: () => this.#resetBindings(kind),
      put: (record) => this.#putBinding(parsed(record) as RawBinding),
      delete: (record) => {
        const { metadata } = parsed(record) as RawBinding
        this.#deleteBinding(metadata?.namespace ?? '', metadata?.name ?? '')
      },
    }
  }

  #resetBindings(kind: 'RoleBinding' | 'ClusterRoleBinding'): void {
    if (kind === 'RoleBinding') this.#bindings.clear()
    else this.#clusterBindings = new BindingTable()
    // Bindings of the other kind still point at their cells, so their uses are counted again.
    for (const cell of this.#roles.values()) cell.uses = 0
    const tables = [this.#clusterBindings, ...this.#bindings.values()]
    for (const table of tables) for (const binding of table.all()) binding.role.uses++
    for (const cell of [...this.#roles.values()]) this.#dropUnused(cell)
  }

  #putBinding({ metadata, roleRef, subjects }: RawBinding): void {
    const { name = '', namespace = '' } = metadata ?? {}
    this.#deleteBinding(namespace, name)
    const role = this.#cell(roleRef?.kind ?? '', namespace, roleRef?.name ?? '')
    role.uses++
    const binding: Binding = {
      name,
      namespace,
      role,
      subjects: (subjects ?? []).map(
        (subject): Subject => ({
          kind: subject.kind ?? '',
          name: subject.name ?? '',
          namespace: subject.namespace ?? '',
        }),
      ),
    }
    this.#table(namespace).put(binding)
  }

  #deleteBinding(namespace: string, name: string): void {
    const table = namespace === '' ? this.#clusterBindings : this.#bindings.get(namespace)
    const gone = table?.delete(name)
    if (gone === undefined) return
    gone.role.uses--
    this.#dropUnused(gone.role)
    if (namespace !== '' && table?.size === 0) this.#bindings.delete(namespace)
  }

  #table(namespace: string): BindingTable {
    if (namespace === '') return this.#clusterBindings
    let table = this.#bindings.get(namespace)
    if (table === undefined) {
      table = new BindingTable()
      this.#bindings.set(namespace, table)
    }
    return table
  }

  #cell(kind: string, namespace: string, name: string): RoleCell {
    const key = roleKey(kind, namespace, name)
    let cell = this.#roles.get(key)
    if (cell === undefined) {
      cell = { kind, key, name, rules: undefined, uses: 0 }
      this.#roles.set(key, cell)
    }
    return cell
  }

  #emptied(cell: RoleCell): void {
    cell.rules = undefined
    this.#dropUnused(cell)
  }

  #dropUnused(cell: RoleCell): void {
    if (cell.uses === 0 && cell.rules === undefined) this.#roles.delete(cell.key)
  }
}

function visitTable(
  table: BindingTable,
  user: { readonly name: string; readonly groups: readonly string[] },
  stop: (grant: Grant) => boolean,
): boolean {
  const own = table.ofUser(user.name)
  if (own !== undefined) for (const grant of own) if (stop(grant)) return true
  for (const group of user.groups) {
    const grants = table.ofGroup(group)
    if (grants !== undefined) for (const grant of grants) if (stop(grant)) return true
  }
  return false
}
