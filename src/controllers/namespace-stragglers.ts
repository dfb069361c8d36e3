/**
 * Thread: controllers. What was still created in a namespace while it went: a request that admission let through when the namespace was alive,
 * and whose write came to storage behind the last look of the namespace controller. Nobody would find it, and a new namespace of the
 * same name would have it. Kubernetes leaves it there; here the name is looked at again a few times, for longer than a request may take.
 * (A creation that compares the namespace in its own transaction would leave none, for one more comparison in every creation.)
 */
import type { ControlledResource } from './framework/controlled-resource.js'
import type { ControllerContext } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'

/** Most come within a second; the last look is after the longest request (--request-timeout is a minute by default). */
const LOOKS_AFTER_MS = [1_000, 5_000, 20_000, 90_000]

interface Straggler {
  readonly resource: ControlledResource
  readonly name: string
  readonly uid: string
}

export class NamespaceStragglers {
  readonly #context: ControllerContext
  readonly #namespaces: ControlledResource
  readonly #queue: ReturnType<ControllerContext['queue']>
  /** How often each name was looked at. */
  readonly #looks = new Map<string, number>()

  constructor(context: ControllerContext, namespaces: ControlledResource) {
    this.#context = context
    this.#namespaces = namespaces
    this.#queue = context.queue({ workers: 1, sync: (name) => this.#look(name) })
  }

  /** The namespace is gone. */
  expect(name: string): void {
    this.#looks.set(name, 0)
    this.#queue.addAfter(name, LOOKS_AFTER_MS[0]!)
  }

  /** A namespace of this name is there, whose objects are its own affair. */
  forget(name: string): void {
    this.#looks.delete(name)
  }

  async #look(name: string): Promise<void> {
    const look = this.#looks.get(name)
    if (look === undefined) return
    const found = await this.#find(name)
    const { objects, client } = this.#context
    // They were found before: what is there while its namespace is not was never a new one's.
    const isGone =
      found.length === 0 || (await objects.getLive(this.#namespaces, { namespace: '', name })) === undefined
    if (!isGone) return this.forget(name)
    for (const { resource, name: straggler, uid } of found) {
      try {
        await client.delete(resource, { namespace: name, name: straggler }, { uid, propagationPolicy: 'Background' })
      } catch (error) {
        if (!failedWith(error, 'NotFound') && !failedWith(error, 'Conflict')) throw error
      }
    }
    const next = LOOKS_AFTER_MS[look + 1]
    if (next === undefined) return this.forget(name)
    this.#looks.set(name, look + 1)
    this.#queue.addAfter(name, next)
  }

  async #find(namespace: string): Promise<Straggler[]> {
    const { objects, resources } = this.#context
    const found: Straggler[] = []
    for (const resource of resources.all())
      if (resource.namespaced && resource.verbs.includes('delete'))
        await objects.visit(resource, namespace, ({ name, uid }) => void found.push({ resource, name, uid }))
    return found
  }
}
