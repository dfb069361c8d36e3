/**
 * Thread: main. Resources that come, change and go while the server runs. A change is done when every thread has it; one is
 * made after another, in the order in which they were asked for.
 *
 *   set     pool (requests under way with the old one end first) → owner, where memory is made or made anew → front ends
 *   remove  front ends (404, watches end) → pool (requests under way end) → owner, which frees the memory
 *
 * While the memory of a changed resource is made anew its storage is read. Objects of a removed one stay where they are.
 */
import { formatGroupResource, type GroupResource } from '../../api/group-version.js'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import type { OwnerResource } from '../../protocol/main-owner.js'
import type { ResourceChange } from '../../protocol/resource-change.js'
import type { Served } from '../../workers/scheme/served.js'

interface Threads {
  change(change: ResourceChange): Promise<void>
}

export interface ResourceRegistrarOptions {
  readonly served: Served
  readonly owner: {
    addResource(resource: OwnerResource): Promise<void>
    removeResource(resource: string): Promise<void>
  }
  readonly pool: Threads
  readonly frontEnds: Threads
}

export class ResourceRegistrar {
  readonly #options: ResourceRegistrarOptions
  readonly #definitions = new Map<string, ResourceDefinition>()
  #last: Promise<void> = Promise.resolve()

  constructor(options: ResourceRegistrarOptions) {
    this.#options = options
  }

  definitions(): ResourceDefinition[] {
    return [...this.#definitions.values()]
  }

  /** Adds a resource, or replaces the one of the same group and name. */
  set(definition: ResourceDefinition): Promise<void> {
    return this.#next(() => this.#set(definition))
  }

  remove(groupResource: GroupResource): Promise<void> {
    return this.#next(() => this.#remove(groupResource))
  }

  async #set(definition: ResourceDefinition): Promise<void> {
    const { served, owner, pool, frontEnds } = this.#options
    const name = formatGroupResource(definition)
    const before = this.#definitions.get(name)
    const change: ResourceChange = { type: 'set', definition }
    served.apply(change)
    this.#definitions.set(name, definition)
    await pool.change(change)
    if (before === undefined || memoryOf(before) !== memoryOf(definition)) {
      if (before !== undefined) await owner.removeResource(name)
      const owned = served.definedOwned(definition)
      if (owned !== undefined) await owner.addResource(owned)
    }
    await frontEnds.change(change)
  }

  async #remove(groupResource: GroupResource): Promise<void> {
    const { served, owner, pool, frontEnds } = this.#options
    const name = formatGroupResource(groupResource)
    if (!this.#definitions.delete(name)) return
    const change: ResourceChange = { type: 'remove', groupResource }
    served.apply(change)
    await frontEnds.change(change)
    await pool.change(change)
    await owner.removeResource(name)
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work)
    // A failure is told to whoever asked for the change; the changes after it go on.
    this.#last = done.catch(() => undefined)
    return done
  }
}

/** What the records in memory depend on. */
function memoryOf({ kind, namespaced, storageVersion, versions }: ResourceDefinition): string {
  return JSON.stringify([kind, namespaced, storageVersion, versions.map((version) => version.selectableFields ?? [])])
}
