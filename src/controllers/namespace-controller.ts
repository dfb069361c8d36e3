/**
 * Thread: controllers. A namespace that is being deleted is emptied: pods first, then everything else of whatever resource,
 * custom ones and those of extension API servers included. What is left, and why, is told in its conditions; when nothing is, its finalizer goes and the
 * namespace with it, and its name is looked at for a while longer (NamespaceStragglers).
 */
import { isDeepStrictEqual } from 'node:util'
import { formatGroupResource } from '../api/group-version.js'
import type { KubeObject } from '../api/object.js'
import { formatTime } from '../api/time.js'
import type { RemoteResource } from '../protocol/main-controllers.js'
import type { ControlledResource } from './framework/controlled-resource.js'
import type { Controller, ControllerContext } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import { RemoteFailure } from './framework/remote-objects.js'
import { Unfinished } from './framework/unfinished.js'
import { type Condition, deletionConditions, type Remains } from './namespace-conditions.js'
import { NamespaceStragglers } from './namespace-stragglers.js'
import { RemainsWatch } from './remains-watch.js'
import type { Namespace } from './service-account-controller.js'

const FINALIZER = 'kubernetes'
/** Objects that are kept by a finalizer or a grace period are looked at again after so long; Kubernetes waits as long. */
const LOOK_AGAIN_MS = 5_000
/** So many objects are deleted at once: enough to keep every pool thread busy, and commits in groups. */
const DELETIONS_AT_ONCE = 64

export const namespaceController: Controller = {
  name: 'namespace-controller',
  account: 'namespace-controller',
  requires: ['namespaces'],
  start(context) {
    const namespaces = context.resource('namespaces')
    const work = context.queue({
      workers: 10,
      maxPauseMs: 60_000,
      sync: async (name) => {
        const { remains, again } = await new NamespaceDeletion(context, namespaces, name).run()
        waiting.set(name, remains)
        if (again) work.addAfter(name, LOOK_AGAIN_MS)
      },
    })
    const waiting = new RemainsWatch(context, (name) => work.add(name))
    const stragglers = new NamespaceStragglers(context, namespaces)
    context.follow(namespaces, {
      onPut: (namespace) => {
        stragglers.forget(namespace.name)
        if (namespace.read().metadata?.deletionTimestamp !== undefined) work.add(namespace.name)
      },
      onDelete: ({ name }) => {
        waiting.set(name, [])
        stragglers.expect(name)
      },
    })
  },
}

interface ResourceRemains extends Remains {
  /** Undefined for a resource of another server: nobody tells when what remains of it goes. */
  readonly of: ControlledResource | undefined
}

interface Outcome {
  /** The resources of which something remains. */
  readonly remains: ControlledResource[]
  /** Whether the namespace must be looked at again. */
  readonly again: boolean
}

const DONE: Outcome = { remains: [], again: false }

class NamespaceDeletion {
  readonly #context: ControllerContext
  readonly #namespaces: ControlledResource
  readonly #name: string

  constructor(context: ControllerContext, namespaces: ControlledResource, name: string) {
    this.#context = context
    this.#namespaces = namespaces
    this.#name = name
  }

  async run(): Promise<Outcome> {
    const { objects, client, resources } = this.#context
    const namespace = await objects.get<Namespace>(this.#namespaces, { namespace: '', name: this.#name })
    if (namespace?.metadata?.deletionTimestamp === undefined) return DONE
    const finalizers = namespace.spec?.finalizers ?? []
    if (!finalizers.includes(FINALIZER)) return DONE
    const all = resources.all().filter(({ namespaced, verbs }) => namespaced && verbs.includes('delete'))
    const pods = all.filter(({ id }) => id === 'pods')
    const failures: string[] = []
    const { resources: remotes, failures: undiscovered } = await this.#context.remotes.report()
    let remains = await this.#empty(pods, failures)
    // Whatever pods use, policies that guard them included, outlives them.
    if (remains.length === 0 && failures.length === 0)
      remains = [
        ...(await this.#empty(
          all.filter(({ id }) => id !== 'pods'),
          failures,
        )),
        ...(await this.#emptyRemotes(remotes, failures)),
      ]
    const unsaid = undiscovered.map(({ groupVersion, why }) => `${groupVersion}: ${why}`)
    const before = namespace.status?.conditions as Condition[] | undefined
    const now = formatTime(this.#context.clock.now())
    const conditions = deletionConditions({ remains, failures, undiscovered: unsaid }, before, { now })
    const updated = await this.#tell(namespace, conditions)
    if (failures.length > 0 || unsaid.length > 0) throw new Unfinished([...failures, ...unsaid].join('; '))
    if (remains.length > 0) return { remains: remains.flatMap(({ of }) => of ?? []), again: true }
    const left = finalizers.filter((finalizer) => finalizer !== FINALIZER)
    try {
      await client.update(this.#namespaces, { ...updated, spec: { ...updated.spec, finalizers: left } }, 'finalize')
    } catch (error) {
      if (!failedWith(error, 'NotFound')) throw error
    }
    return DONE
  }

  /** As #empty(), of what extension API servers hold. */
  async #emptyRemotes(resources: readonly RemoteResource[], failures: string[]): Promise<ResourceRemains[]> {
    const remains: ResourceRemains[] = []
    for (const resource of resources) {
      const { namespaced, verbs } = resource
      if (!namespaced || !verbs.includes('delete') || !verbs.includes('list')) continue
      try {
        const left = await this.#emptyRemote(resource)
        const finalizers = new Map<string, number>()
        for (const { metadata } of left)
          for (const finalizer of metadata?.finalizers ?? [])
            finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
        const name = formatGroupResource(resource)
        if (left.length > 0) remains.push({ resource: name, of: undefined, count: left.length, finalizers })
      } catch (error) {
        if (!(error instanceof RemoteFailure)) throw error
        failures.push(`${formatGroupResource(resource)}: ${error.message}`)
      }
    }
    return remains
  }

  /** Gives what is left. */
  async #emptyRemote(resource: RemoteResource): Promise<KubeObject[]> {
    const { remotes } = this.#context
    const found = await remotes.list(resource, this.#name)
    if (found.length === 0) return []
    if (resource.verbs.includes('deletecollection')) await remotes.deleteCollection(resource, this.#name)
    else
      for (const { metadata } of found)
        await remotes.delete(resource, { namespace: this.#name, name: metadata?.name ?? '' })
    return remotes.list(resource, this.#name)
  }

  /** Deletes everything of these resources in the namespace; gives what is there afterwards. */
  async #empty(resources: readonly ControlledResource[], failures: string[]): Promise<ResourceRemains[]> {
    const { objects } = this.#context
    const found: ControlledResource[] = []
    for (const resource of resources) if ((await objects.countLive(resource, this.#name)) > 0) found.push(resource)
    await Promise.all(found.map((resource) => this.#deleteAll(resource, failures)))
    const remains: ResourceRemains[] = []
    for (const resource of found) {
      if ((await objects.countLive(resource, this.#name)) === 0) continue
      let count = 0
      const finalizers = new Map<string, number>()
      await objects.visit(resource, this.#name, (object) => {
        count++
        for (const finalizer of object.read().metadata?.finalizers ?? [])
          finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1)
      })
      // Kubernetes prints the group after the name, the empty one too.
      const name = `${resource.id}${resource.group === '' ? '.' : ''}`
      if (count > 0) remains.push({ resource: name, of: resource, count, finalizers })
    }
    return remains
  }

  async #deleteAll(resource: ControlledResource, failures: string[]): Promise<void> {
    const { objects, client } = this.#context
    const waiting: { readonly name: string; readonly uid: string }[] = []
    await objects.visit(resource, this.#name, ({ name, uid }) => void waiting.push({ name, uid }))
    const deleteSome = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const { name, uid } = next
        try {
          await client.delete(resource, { namespace: this.#name, name }, { uid, propagationPolicy: 'Background' })
        } catch (error) {
          if (failedWith(error, 'NotFound') || failedWith(error, 'Conflict')) continue
          failures.push(`${resource.id}: ${error instanceof Error ? error.message : String(error)}`)
          return
        }
      }
    }
    await Promise.all(Array.from({ length: DELETIONS_AT_ONCE }, deleteSome))
  }

  /** Writes the conditions where they differ from what is there. A namespace that loses nothing by it gets none. */
  async #tell(namespace: Namespace, conditions: readonly Condition[]): Promise<Namespace> {
    const before = namespace.status?.conditions ?? []
    if (isDeepStrictEqual(before, conditions)) return namespace
    const status = { ...namespace.status, conditions: [...conditions] }
    return this.#context.client.updateStatus(this.#namespaces, { ...namespace, status })
  }
}
