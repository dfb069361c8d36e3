/**
 * Thread: controllers. Follows every resource that can be deleted, keeps the graph of owners, and says which objects must be
 * looked at: who is new, who lost an owner, and owners whose deletion waits for dependents.
 */
import { isDeepStrictEqual } from 'node:util'
import type { OwnerReference } from '../../api/object.js'
import { type ControlledResource, kindKey } from '../framework/controlled-resource.js'
import type { ControllerContext } from '../framework/controller.js'
import type { SeenObject } from '../framework/seen-object.js'
import type { DependentNode, OwnerGraph } from './owner-graph.js'

export const FOREGROUND = 'foregroundDeletion'
export const ORPHAN = 'orphan'

const OWNED = Buffer.from('"ownerReferences"')
export const DELETED = Buffer.from('"deletionTimestamp"')
const API_SERVICES = 'apiservices.apiregistration.k8s.io'
/** Events own nothing and come and go by themselves; Kubernetes leaves them out too. */
const IGNORED = new Set(['events', 'events.events.k8s.io'])

export class OwnerWatch {
  readonly #context: ControllerContext
  readonly #graph: OwnerGraph
  readonly #look: (id: string) => void
  readonly #followed = new Map<string, { readonly resource: ControlledResource; readonly stop: () => void }>()
  readonly #synced = new Set<string>()
  /** Owners that wait for their dependents: uid to the key in the queue. */
  readonly #waiting = new Map<string, string>()
  /** The kinds that were known at the last update. */
  #kinds: ReadonlySet<string> = new Set()

  constructor(context: ControllerContext, graph: OwnerGraph, look: (id: string) => void) {
    this.#context = context
    this.#graph = graph
    this.#look = look
  }

  /** Follows what is served now; resources that have gone take their nodes with them. */
  update(): void {
    const served = new Map(
      this.#context.resources
        .all()
        .filter(({ id, verbs }) => verbs.includes('delete') && !IGNORED.has(id))
        .map((resource) => [resource.id, resource]),
    )
    for (const [id, { resource, stop }] of this.#followed) {
      if (isDeepStrictEqual(served.get(id), resource)) continue
      stop()
      this.#followed.delete(id)
      this.#synced.delete(id)
      for (const node of [...this.#graph.nodes()]) if (node.id.startsWith(`${id}|`)) this.#forget(node.id)
    }
    for (const [id, resource] of served) if (!this.#followed.has(id)) this.#follow(resource)
    this.#lookAtNewKinds()
  }

  /** Who named an owner of a kind that nobody served waits for that kind, and not for a time. */
  #lookAtNewKinds(): void {
    const before = this.#kinds
    this.#kinds = this.#context.resources.kinds()
    const isNew = ({ apiVersion, kind }: OwnerReference): boolean => {
      const key = kindKey(apiVersion, kind)
      return this.#kinds.has(key) && !before.has(key)
    }
    for (const { id, owners } of this.#graph.nodes()) if (owners.some(isNew)) this.#look(id)
  }

  /** The graph is whole only when every resource has been seen: before, nobody can say that an owner has no dependents. */
  get whole(): boolean {
    return this.#context.resources.isTold && this.#synced.size === this.#followed.size
  }

  /** An extension API server came, or began to answer: it may serve what nobody served. */
  #lookAtUnknownKinds(): void {
    const isUnknown = ({ apiVersion, kind }: OwnerReference): boolean => !this.#kinds.has(kindKey(apiVersion, kind))
    for (const { id, owners } of this.#graph.nodes()) if (owners.some(isUnknown)) this.#look(id)
  }

  #follow(resource: ControlledResource): void {
    let unseen = new Set<string>()
    const stop = this.#context.follow(resource, {
      onReset: () => {
        unseen = new Set([...this.#graph.nodes()].map(({ id }) => id).filter((id) => id.startsWith(`${resource.id}|`)))
      },
      onSynced: () => {
        for (const id of unseen) this.#forget(id)
        // Owners may have gone unseen meanwhile: everybody is asked again.
        if (this.#synced.has(resource.id)) for (const { id } of this.#graph.nodes()) this.#look(id)
        this.#synced.add(resource.id)
      },
      onPut: (object) => {
        if (resource.id === API_SERVICES) this.#lookAtUnknownKinds()
        const id = `${resource.id}|${object.key}`
        unseen.delete(id)
        this.#put(id, object)
      },
      onDelete: (object) => {
        this.#forget(`${resource.id}|${object.key}`)
        this.#waiting.delete(object.uid)
        for (const dependent of this.#graph.dependentsOf(object.uid)) this.#look(dependent.id)
      },
    })
    this.#followed.set(resource.id, { resource, stop })
  }

  #put(id: string, object: SeenObject): void {
    const isDeleted = object.mentions(DELETED)
    const isOwned = object.mentions(OWNED)
    if (!isDeleted && !isOwned) {
      this.#forget(id)
      return
    }
    const { uid } = object
    const { ownerReferences: owners = [], deletionTimestamp, finalizers = [] } = object.read().metadata ?? {}
    const isWaiting =
      deletionTimestamp !== undefined && (finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN))
    if (isWaiting) {
      this.#waiting.set(uid, id)
      this.#look(id)
    }
    if (owners.length === 0) {
      this.#forget(id)
      return
    }
    const before = this.#graph.get(id)
    const node = { id, uid, owners, deletingDependents: isWaiting && finalizers.includes(FOREGROUND) }
    if (before !== undefined && isDeepStrictEqual(before, node)) return
    this.#graph.set(node)
    this.#look(id)
    if (before !== undefined) this.#tellOwners(before)
  }

  #forget(id: string): void {
    const node = this.#graph.delete(id)
    if (node !== undefined) this.#tellOwners(node)
  }

  /** Owners that wait may have one dependent less. */
  #tellOwners({ owners }: DependentNode): void {
    for (const { uid } of owners) {
      const waiting = this.#waiting.get(uid)
      if (waiting !== undefined) this.#look(waiting)
    }
  }
}
