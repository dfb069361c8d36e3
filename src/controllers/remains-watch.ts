/**
 * Thread: controllers. Namespaces that wait for their last objects are looked at when one of those goes. Only resources of which
 * something remains are followed, and only as long as a namespace waits for them.
 */
import type { ControlledResource } from './framework/controlled-resource.js'
import type { ControllerContext } from './framework/controller.js'

interface Followed {
  /** The names of the namespaces that wait. */
  readonly namespaces: Set<string>
  readonly stop: () => void
}

export class RemainsWatch {
  readonly #context: ControllerContext
  readonly #look: (namespace: string) => void
  readonly #followed = new Map<string, Followed>()

  constructor(context: ControllerContext, look: (namespace: string) => void) {
    this.#context = context
    this.#look = look
  }

  /** The namespace waits for objects of these resources, and of no others. */
  set(namespace: string, resources: readonly ControlledResource[]): void {
    const wanted = new Set(resources.map(({ id }) => id))
    for (const [id, { namespaces, stop }] of this.#followed) {
      if (wanted.has(id)) continue
      namespaces.delete(namespace)
      if (namespaces.size > 0) continue
      stop()
      this.#followed.delete(id)
    }
    for (const resource of resources) this.#follow(resource).add(namespace)
  }

  #follow(resource: ControlledResource): Set<string> {
    const known = this.#followed.get(resource.id)
    if (known !== undefined) return known.namespaces
    const namespaces = new Set<string>()
    const stop = this.#context.follow(resource, {
      onPut: () => undefined,
      onDelete: ({ namespace }) => {
        if (namespaces.has(namespace)) this.#look(namespace)
      },
    })
    this.#followed.set(resource.id, { namespaces, stop })
    return namespaces
  }
}
