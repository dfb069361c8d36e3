/** Thread: pool. Nothing is created in a namespace that does not exist or is ending, and some namespaces always stay. */
import type { Namespace } from '../../api/generated/kinds/core.v1.js'
import { newNotFound } from '../../api/status.js'
import type { Clock } from '../../lib/clock.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import { type AdmissionObjects, NAMESPACES } from '../objects.js'

const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])
/** For so long after a namespace was deleted memory may still show it alive, and the storage is asked. */
const FORCE_LIVE_MS = 30_000
/** The group whose namespaced kinds are questions about a namespace and no objects in it. */
const REVIEWS = 'authorization.k8s.io'

export class NamespaceLifecycle implements AdmissionPlugin {
  readonly name = 'NamespaceLifecycle'
  readonly #objects: AdmissionObjects
  readonly #clock: Clock
  /** Names of namespaces deleted a short time ago, and until when storage is asked about them. */
  readonly #deleted = new Map<string, number>()

  constructor(objects: AdmissionObjects, clock: Clock) {
    this.#objects = objects
    this.#clock = clock
  }

  handles({ operation, resource }: AdmissionAttributes): boolean {
    if (resource.group === '' && resource.resource === 'namespaces') return operation === 'DELETE'
    return operation === 'CREATE' && resource.group !== REVIEWS
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    const { operation, namespace, name } = attributes
    if (operation === 'DELETE') {
      if (IMMORTAL.has(name)) throw forbid(attributes, 'this namespace may not be deleted')
      this.#remember(name)
      return
    }
    if (namespace === '') return
    const found = this.#mustAskStorage(namespace) ? undefined : this.#objects.get(NAMESPACES, '', namespace)
    // In most cases the namespace is in memory and active.
    if (found !== undefined && !(found instanceof Promise)) this.#check(attributes, found)
    else return this.#slowly(attributes, found)
  }

  async #slowly(attributes: AdmissionAttributes, asked: Promise<Namespace | undefined> | undefined): Promise<void> {
    const { namespace } = attributes
    const found = (await asked) ?? (await this.#objects.getLive(NAMESPACES, '', namespace))
    if (found === undefined) throw newNotFound(NAMESPACES, namespace)
    this.#check(attributes, found)
  }

  #check(attributes: AdmissionAttributes, namespace: Namespace): void {
    if (namespace.status?.phase !== 'Terminating') return
    const name = attributes.namespace
    throw forbid(attributes, `unable to create new content in namespace ${name} because it is being terminated`, [
      { reason: 'NamespaceTerminating', message: `namespace ${name} is being terminated`, field: 'metadata.namespace' },
    ])
  }

  #mustAskStorage(namespace: string): boolean {
    if (this.#deleted.size === 0) return false
    const until = this.#deleted.get(namespace)
    if (until === undefined) return false
    if (this.#clock.monotonicMs() < until) return true
    this.#deleted.delete(namespace)
    return false
  }

  #remember(name: string): void {
    const now = this.#clock.monotonicMs()
    for (const [known, until] of this.#deleted) {
      // Entries stand in the order of their age: the first that still counts ends the loop.
      if (until > now) break
      this.#deleted.delete(known)
    }
    this.#deleted.delete(name)
    this.#deleted.set(name, now + FORCE_LIVE_MS)
  }
}
