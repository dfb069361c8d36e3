import { recordDraft } from '#keelson/api/json/record-scan.js'
import type { CacheSource } from '#keelson/auth/authz/rbac-index.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import type { ArenaWriter } from '#keelson/cacher/memory/shared-memory.js'

const GROUP = 'rbac.authorization.k8s.io'

export interface Thing {
  readonly resource: string
  readonly object: { readonly metadata: { readonly name: string; readonly namespace?: string } }
}
interface Rule {
  readonly verbs: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}
interface Subject {
  readonly kind: string
  readonly name: string
  readonly namespace?: string
}

export const role = (namespace: string, name: string, rules: readonly Rule[]): Thing => ({
  resource: 'roles',
  object: { metadata: { namespace, name, resourceVersion: '' }, rules } as Thing['object'],
})
export const clusterRole = (name: string, rules: readonly Rule[]): Thing => ({
  resource: 'clusterroles',
  object: { metadata: { name, resourceVersion: '' }, rules } as Thing['object'],
})
export const roleBinding = (
  namespace: string,
  name: string,
  kind: 'Role' | 'ClusterRole',
  roleName: string,
  subjects: readonly Subject[],
): Thing => ({
  resource: 'rolebindings',
  object: {
    metadata: { namespace, name, resourceVersion: '' },
    subjects,
    roleRef: { apiGroup: GROUP, kind, name: roleName },
  } as Thing['object'],
})
export const clusterRoleBinding = (
  name: string,
  roleName: string,
  subjects: readonly Subject[],
  kind = 'ClusterRole',
): Thing => ({
  resource: 'clusterrolebindings',
  object: {
    metadata: { name, resourceVersion: '' },
    subjects,
    roleRef: { apiGroup: GROUP, kind, name: roleName },
  } as Thing['object'],
})

/** Roles and bindings in real arenas, written and read in one thread. */
export class RbacMemory {
  readonly #owner = new MemoryOwner()
  readonly #reader = this.#owner.localReader()
  readonly #arenas = new Map<string, ArenaWriter>()
  #revision = 0

  /** `names`: of the arenas, by what they are called here. */
  constructor(
    names: Readonly<Record<string, string>> = Object.fromEntries(
      ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map((name) => [name, `${name}.${GROUP}`]),
    ),
  ) {
    for (const [resource, name] of Object.entries(names)) {
      const arena = this.#owner.createArena(name, {})
      arena.setReady(true)
      this.#arenas.set(resource, arena)
    }
  }

  readonly source: CacheSource = (resource) => ({
    clock: this.#reader.clock,
    known: () => {
      const arena = this.#reader.arena(resource)?.known()
      return arena?.ready() === true ? arena : undefined
    },
  })

  put({ resource, object }: Thing): void {
    this.#change(resource, (arena, revision) => {
      arena.put(keyOf(resource, object), recordDraft(Buffer.from(JSON.stringify(object)), []), revision, revision)
    })
  }

  delete({ resource, object }: Thing): void {
    this.#change(resource, (arena, revision) => arena.delete(keyOf(resource, object), revision))
  }

  ready(resource: string, ready: boolean): void {
    this.#arenas.get(resource)!.setReady(ready)
  }

  #change(resource: string, change: (arena: ArenaWriter, revision: number) => void): void {
    const arena = this.#arenas.get(resource)!
    const revision = ++this.#revision
    change(arena, revision)
    arena.publish(revision)
    this.#owner.clock.advance(revision)
  }
}

const keyOf = (resource: string, { metadata }: Thing['object']): string =>
  `/registry/${resource}/${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
