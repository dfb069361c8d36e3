/**
 * Thread: controllers. Who is owned by whom: a node for each object that names owners, found by the uid of each owner. Objects
 * that own nothing and are owned by nothing are not in it; whether an owner exists is asked of memory, not of the graph.
 */
import type { OwnerReference } from '../../api/object.js'

export interface DependentNode {
  /** The key of the node in the queue. */
  readonly id: string
  readonly uid: string
  readonly owners: readonly OwnerReference[]
  /** The object is being deleted and waits for its own dependents. */
  readonly deletingDependents: boolean
}

export class OwnerGraph {
  readonly #nodes = new Map<string, DependentNode>()
  readonly #dependents = new Map<string, Map<string, DependentNode>>()

  get(id: string): DependentNode | undefined {
    return this.#nodes.get(id)
  }

  nodes(): IterableIterator<DependentNode> {
    return this.#nodes.values()
  }

  dependentsOf(uid: string): DependentNode[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])]
  }

  set(node: DependentNode): void {
    this.delete(node.id)
    this.#nodes.set(node.id, node)
    for (const { uid } of node.owners) {
      const siblings = this.#dependents.get(uid)
      if (siblings === undefined) this.#dependents.set(uid, new Map([[node.id, node]]))
      else siblings.set(node.id, node)
    }
  }

  /** Gives the node that was there. */
  delete(id: string): DependentNode | undefined {
    const node = this.#nodes.get(id)
    if (node === undefined) return undefined
    this.#nodes.delete(id)
    for (const { uid } of node.owners) {
      const siblings = this.#dependents.get(uid)
      siblings?.delete(id)
      if (siblings?.size === 0) this.#dependents.delete(uid)
    }
    return node
  }
}
