/**
 * Thread: controllers. In which namespace the object of a uid lies. Nobody needs it but those who named an owner in another
 * namespace, so no index is kept: the uids of a resource are read when somebody asks, and forgotten after a moment.
 */
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { ControllerContext } from '../framework/controller.js'

/** So long what was read serves the next questions: a thousand dependents of lost owners cost one reading. */
const FRESH_MS = 1_000

interface Known {
  readonly namespaces: ReadonlyMap<string, string>
  readonly readMs: number
  readonly revision: number
}

export class UidPlaces {
  readonly #context: ControllerContext
  /** Holds the resource that was asked for last, and no other. */
  #known: (Known & { readonly id: string }) | undefined
  #reading: Promise<Known> | undefined

  constructor(context: ControllerContext) {
    this.#context = context
  }

  /** Undefined when there was no such object at the revision, at which somebody named it. */
  async namespaceOf(resource: ControlledResource, uid: string, revision: number): Promise<string | undefined> {
    const { clock } = this.#context
    while (this.#reading !== undefined) await this.#reading
    const known = this.#known
    const isFresh = known?.id === resource.id && clock.monotonicMs() - known.readMs <= FRESH_MS
    if (!isFresh || known.revision < revision) {
      this.#reading = this.#read(resource)
      try {
        this.#known = { id: resource.id, ...(await this.#reading) }
      } finally {
        this.#reading = undefined
      }
      clock.after(2 * FRESH_MS, () => {
        if (this.#known !== undefined && clock.monotonicMs() - this.#known.readMs > FRESH_MS) this.#known = undefined
      })
    }
    return this.#known?.namespaces.get(uid)
  }

  async #read(resource: ControlledResource): Promise<Known> {
    const revision = this.#context.objects.revision(resource)
    const namespaces = new Map<string, string>()
    await this.#context.objects.visit(resource, '', ({ uid, namespace }) => void namespaces.set(uid, namespace))
    return { namespaces, readMs: this.#context.clock.monotonicMs(), revision }
  }
}
