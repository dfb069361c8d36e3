/**
 * Thread: main. Adds, changes and removes resources while the server runs. A change is complete when every thread has
 * it; changes are made one after another, in the order in which they were asked for.
 *
 *   set     pool (requests under way with the old one end first) → owner, where memory is made or made anew → front ends
 *   remove  front ends (404, watches end) → pool (requests under way end) → owner, which frees the memory
 *
 * While the memory of a changed resource is made anew, its storage is read. The stored objects of a removed resource
 * stay.
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
  /** Threads that are told of changes besides those that serve requests. */
  readonly #others: Threads[] = []
  #last: Promise<void> = Promise.resolve()

  constructor(options: ResourceRegistrarOptions) {
    this.#options = options
  }

  /** Adds a thread that is told of every change, after the threads that serve requests have it. */
  tell(thread: Threads): void {
    this.#others.push(thread)
  }

  definitions(): ResourceDefinition[] {
    return [...this.#definitions.values()]
  }

  /** Resolves when every thread has all changes that were asked for so far. */
  settled(): Promise<void> {
    return this.#last
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
    await Promise.all(this.#others.map((thread) => thread.change(change)))
  }

  async #remove(groupResource: GroupResource): Promise<void> {
    const { served, owner, pool, frontEnds } = this.#options
    const name = formatGroupResource(groupResource)
    if (!this.#definitions.delete(name)) return
    const change: ResourceChange = { type: 'remove', groupResource }
    served.apply(change)
    await frontEnds.change(change)
    await pool.change(change)
    await Promise.all(this.#others.map((thread) => thread.change(change)))
    await owner.removeResource(name)
  }

  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work)
    // A failure is told to whoever asked for the change; the changes after it go on.
    this.#last = done.catch(() => undefined)
    return done
  }
}

/** The parts of a definition that the records in memory depend on. */
const memoryOf = ({ uid, memoryForm }: ResourceDefinition): string => `${uid}/${memoryForm}`
