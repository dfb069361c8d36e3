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
import { OwnerGraph } from './owner-graph.js'
import { FOREGROUND, ORPHAN, OwnerWatch } from './owner-watch.js'
import { UidPlaces } from './uid-places.js'

/** So many objects are looked at at once; most of that time a deletion waits for its commit. */
const WORKERS = 64

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
    const collector = new Collector(context, graph, watch, (id) => work.add(id))
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

class Collector {
  readonly #context: ControllerContext
  readonly #graph: OwnerGraph
  readonly #watch: OwnerWatch
  readonly #look: (id: string) => void
  readonly #places: UidPlaces

  constructor(context: ControllerContext, graph: OwnerGraph, watch: OwnerWatch, look: (id: string) => void) {
    this.#context = context
    this.#graph = graph
    this.#watch = watch
    this.#look = look
    this.#places = new UidPlaces(context)
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
    await Promise.all(
      this.#dependentsOf(item).map(async ({ id }) => {
        const bar = id.indexOf('|')
        const resource = this.#context.resources.find(id.slice(0, bar))
        const place = placeOf(id.slice(bar + 1))
        const object = resource && (await this.#context.objects.getLive(resource, place))
        if (resource === undefined || object === undefined) return
        const dependent = itemOf(id, resource, place, object)
        const kept = dependent.owners.filter(({ uid }) => uid !== item.uid)
        if (kept.length < dependent.owners.length) await this.#patch(dependent, { ownerReferences: kept })
      }),
    )
    await this.#removeFinalizer(item, ORPHAN)
  }

  /** The dependents as of now. Throws while some resource has not been seen, so that the item comes again. */
  #dependentsOf({ uid }: Item) {
    this.#context.catchUp()
    if (!this.#watch.whole) throw new Error('not every resource is in memory yet')
    return this.#graph.dependentsOf(uid)
  }

  async #collect(item: Item): Promise<void> {
    const solid: OwnerReference[] = []
    const waiting: OwnerReference[] = []
    for (const reference of item.owners) {
      const owner = await this.#owner(item, reference)
      if (owner === 'unresolvable') return
      if (owner === 'waiting') waiting.push(reference)
      else if (owner === 'solid') solid.push(reference)
    }
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

  /** Throws when the kind of the owner is unknown: nobody can say then that it is gone. */
  async #owner(item: Item, reference: OwnerReference): Promise<'solid' | 'waiting' | 'absent' | 'unresolvable'> {
    const { place } = item
    const { apiVersion, kind, name, uid } = reference
    const { resources, objects } = this.#context
    const owners = resources.findKind(apiVersion, kind)
    if (owners === undefined) throw new Error(`the kind ${kind} of ${apiVersion} is not served`)
    if (owners.namespaced && place.namespace === '') {
      await this.#tellOfOther(item, reference, owners)
      return 'unresolvable'
    }
    const found = await objects.getLive(owners, { namespace: owners.namespaced ? place.namespace : '', name })
    const { uid: foundUid, deletionTimestamp, finalizers = [] } = found?.metadata ?? {}
    if (foundUid !== uid) {
      if (owners.namespaced) await this.#tellOfOther(item, reference, owners)
      return 'absent'
    }
    return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND) ? 'waiting' : 'solid'
  }

  /** An owner must be in the namespace of its dependents: people who meant one in another are told. */
  async #tellOfOther(
    { resource, place, uid, resourceVersion }: Item,
    { apiVersion, kind, name, uid: ownerUid }: OwnerReference,
    owners: ControlledResource,
  ): Promise<void> {
    const { namespace } = place
    const elsewhere = await this.#places.namespaceOf(owners, ownerUid, Number(resourceVersion))
    if (elsewhere === undefined || elsewhere === namespace) return
    const owner = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${ownerUid}]`
    this.#context.events.record(
      { resource, object: { metadata: { ...place, uid } } },
      'Warning',
      'OwnerRefInvalidNamespace',
      `ownerRef ${owner} does not exist in namespace ${JSON.stringify(namespace)}`,
    )
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
