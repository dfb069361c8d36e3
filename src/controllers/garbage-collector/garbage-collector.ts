/**
 * Thread: controllers. Deletes objects whose owners are all gone, and carries out what the deletion of an owner asks for: with
 * `foregroundDeletion` the owner goes after the dependents that block it, with `orphan` dependents lose their reference.
 *
 * Nothing is deleted on the word of the graph: that an owner is absent is read live, and the deletion names the uid and the
 * resourceVersion of the object that was looked at.
 */
import type { KubeObject, OwnerReference } from '../../api/object.js'
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { Controller, ControllerContext } from '../framework/controller.js'
import { failedWith } from '../framework/controller-client.js'
import { type ObjectPlace, placeOf } from '../framework/seen-object.js'
import { AstrayOwners } from './astray-owners.js'
import { OwnerGraph } from './owner-graph.js'
import { ownerStates } from './owner-states.js'
import { FOREGROUND, ORPHAN, OwnerWatch } from './owner-watch.js'

/** So many objects are looked at at once; most of that time a deletion waits for its commit. */
const WORKERS = 64
/** What has an owner in another server is looked at again after so long: that server tells nobody here when the owner goes. */
const ELSEWHERE_MS = 30_000

export const garbageCollector: Controller = {
  name: 'garbage-collector-controller',
  account: 'generic-garbage-collector',
  requires: [],
  start(context) {
    const graph = new OwnerGraph()
    const work = context.queue({
      workers: WORKERS,
      sync: (id) => collector.process(id),
    })
    const watch = new OwnerWatch(context, graph, (id) => work.add(id))
    const collector = new Collector(context, graph, watch, {
      look: (id) => work.add(id),
      lookLater: (id) => work.addAfter(id, ELSEWHERE_MS),
    })
    watch.update()
    context.onStop(context.resources.onChange(() => watch.update()))
  },
}

/** An object as it was read when it was looked at. */
interface Item {
  readonly id: string
  readonly resource: ControlledResource
  readonly place: ObjectPlace
  readonly uid: string
  readonly resourceVersion: string
  readonly finalizers: readonly string[]
  readonly owners: readonly OwnerReference[]
}

interface Looks {
  look(id: string): void
  lookLater(id: string): void
}

class Collector {
  readonly #context: ControllerContext
  readonly #graph: OwnerGraph
  readonly #watch: OwnerWatch
  readonly #look: Looks['look']
  readonly #lookLater: Looks['lookLater']
  readonly #astray: AstrayOwners

  constructor(context: ControllerContext, graph: OwnerGraph, watch: OwnerWatch, { look, lookLater }: Looks) {
    this.#context = context
    this.#graph = graph
    this.#watch = watch
    this.#look = look
    this.#lookLater = lookLater
    this.#astray = new AstrayOwners(context)
    context.onStop(() => this.#astray.stop())
  }

  async process(id: string): Promise<void> {
    const bar = id.indexOf('|')
    const resource = this.#context.resources.find(id.slice(0, bar))
    // A resource that is not served any more has no objects.
    if (resource === undefined) return
    const place = placeOf(id.slice(bar + 1))
    const object = await this.#context.objects.getLive(resource, place)
    if (object === undefined) return
    const item = itemOf(id, resource, place, object)
    if (object.metadata?.deletionTimestamp !== undefined) await this.#finishDeletion(item)
    else if (item.owners.length > 0) await this.#collect(item)
  }

  async #finishDeletion(item: Item): Promise<void> {
    if (item.finalizers.includes(FOREGROUND)) await this.#waitForDependents(item)
    else if (item.finalizers.includes(ORPHAN)) await this.#orphan(item)
  }

  async #waitForDependents(item: Item): Promise<void> {
    const dependents = this.#dependentsOf(item)
    const isBlocked = dependents.some(({ owners }) =>
      owners.some(({ uid, blockOwnerDeletion }) => uid === item.uid && blockOwnerDeletion === true),
    )
    if (!isBlocked) {
      await this.#removeFinalizer(item, FOREGROUND)
      return
    }
    for (const { id, deletingDependents } of dependents) if (!deletingDependents) this.#look(id)
  }

  async #orphan(item: Item): Promise<void> {
    const dependents = this.#dependentsOf(item)
    const releaseSome = async (): Promise<void> => {
      for (let next = dependents.pop(); next !== undefined; next = dependents.pop()) await this.#release(next.id, item)
    }
    await Promise.all(Array.from({ length: WORKERS }, releaseSome))
    await this.#removeFinalizer(item, ORPHAN)
  }

  /** Takes the reference to the owner out of a dependent. */
  async #release(id: string, owner: Item): Promise<void> {
    const bar = id.indexOf('|')
    const resource = this.#context.resources.find(id.slice(0, bar))
    const place = placeOf(id.slice(bar + 1))
    const object = resource && (await this.#context.objects.getLive(resource, place))
    if (resource === undefined || object === undefined) return
    const dependent = itemOf(id, resource, place, object)
    const kept = dependent.owners.filter(({ uid }) => uid !== owner.uid)
    if (kept.length < dependent.owners.length) await this.#patch(dependent, { ownerReferences: kept })
  }

  /** The dependents as of now. Throws while some resource has not been seen, so that the item comes again. */
  #dependentsOf({ uid }: Item) {
    this.#context.catchUp()
    if (!this.#watch.whole) throw new Error('not every resource is in memory yet')
    return this.#graph.dependentsOf(uid)
  }

  async #collect(item: Item): Promise<void> {
    const { resource, place, uid } = item
    const { solid, waiting, unsure, elsewhere, missing } = await ownerStates(
      this.#context,
      place.namespace,
      item.owners,
    )
    const subject = { resource, object: { metadata: { ...place, uid } } }
    for (const [owners, references] of missing) this.#astray.ask(subject, owners, references)
    if (elsewhere) this.#lookLater(item.id)
    // The object is looked at again when its owners change, and when an unknown kind becomes known (OwnerWatch).
    if (unsure) return
    if (solid.length > 0) {
      if (solid.length < item.owners.length) await this.#patch(item, { ownerReferences: solid })
      return
    }
    const dependents = waiting.length > 0 ? this.#dependentsOf(item) : []
    let latest = item
    if (dependents.some(({ deletingDependents }) => deletingDependents)) {
      // A circle in which everybody waits for the next one: this one lets its owners go before it.
      const ownerReferences = item.owners.map((owner) => ({ ...owner, blockOwnerDeletion: false }))
      const resourceVersion = await this.#patch(item, { ownerReferences })
      if (resourceVersion === undefined) return
      latest = { ...item, resourceVersion }
    }
    await this.#delete(latest, dependents.length > 0 ? 'Foreground' : policyOf(latest))
  }

  async #delete({ resource, place, uid, resourceVersion }: Item, propagationPolicy: Policy): Promise<void> {
    try {
      await this.#context.client.delete(resource, place, { uid, resourceVersion, propagationPolicy })
    } catch (error) {
      if (!failedWith(error, 'NotFound')) throw error
    }
  }

  async #removeFinalizer(item: Item, finalizer: string): Promise<void> {
    await this.#patch(item, { finalizers: item.finalizers.filter((name) => name !== finalizer) })
  }

  /** Gives the resourceVersion that the object has then; undefined when it is gone. */
  async #patch({ resource, place, uid, resourceVersion }: Item, metadata: object): Promise<string | undefined> {
    try {
      const body = { metadata: { uid, resourceVersion, ...metadata } }
      const patched = await this.#context.client.patch(resource, place, body, { type: 'merge' })
      return patched.metadata?.resourceVersion
    } catch (error) {
      if (failedWith(error, 'NotFound')) return undefined
      throw error
    }
  }
}

type Policy = 'Background' | 'Foreground' | 'Orphan'

/** What somebody has already asked of the object is kept to. */
function policyOf({ finalizers }: Item): Policy {
  if (finalizers.includes(ORPHAN)) return 'Orphan'
  return finalizers.includes(FOREGROUND) ? 'Foreground' : 'Background'
}

function itemOf(id: string, resource: ControlledResource, place: ObjectPlace, { metadata = {} }: KubeObject): Item {
  const { uid = '', resourceVersion = '', finalizers = [], ownerReferences: owners = [] } = metadata
  return { id, resource, place, uid, resourceVersion, finalizers, owners }
}
