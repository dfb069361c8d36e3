/**
 * Thread: controllers. Objects by name, and lists of them, from shared memory; what memory does not hold is read through the
 * pool. `live` reads see everything that was acknowledged to anybody before they began.
 */
import { parseJson } from '../../api/json/parse.js'
import type { KubeObject } from '../../api/object.js'
import { StatusError } from '../../api/status.js'
import type { Snapshot } from '../../cacher/memory/shared-memory.js'
import { keyRange } from '../../cacher/read/key-range.js'
import { openSnapshot } from '../../cacher/read/resolve.js'
import type { ResourceViews } from '../../cacher/read/resource-view.js'
import type { ControlledResource } from './controlled-resource.js'
import type { PoolRequests } from './pool-requests.js'
import { keyOf, type ObjectPlace, SeenObject } from './seen-object.js'

/** So many objects are asked for at once when they are not in memory. */
const PAGE = 500

export class ObjectReader {
  readonly #views: ResourceViews
  readonly #requests: PoolRequests

  constructor(views: ResourceViews, requests: PoolRequests) {
    this.#views = views
    this.#requests = requests
  }

  /** The object as memory has it now; undefined when there is none. */
  get<T extends KubeObject = KubeObject>(resource: ControlledResource, place: ObjectPlace): Promise<T | undefined> {
    return this.#get(resource, place, true)
  }

  /** The newest state of the object, whoever wrote it. */
  async getLive<T extends KubeObject = KubeObject>(
    resource: ControlledResource,
    place: ObjectPlace,
  ): Promise<T | undefined> {
    return this.#get(resource, place, await this.#views(resource.arena).fence.pass())
  }

  /** Every object, or those of a namespace. */
  async list<T extends KubeObject = KubeObject>(resource: ControlledResource, namespace = ''): Promise<T[]> {
    const found: T[] = []
    await this.visit(resource, namespace, (object) => void found.push(object.read<T>()))
    return found
  }

  /** As list(), without parsing: each object is valid during its call alone. */
  visit(resource: ControlledResource, namespace: string, visit: (object: SeenObject) => void): Promise<void> {
    return this.#visit(resource, namespace, visit, true)
  }

  /** As visit(), of what anybody has written before the call: where it decides that an object is not there. */
  async visitLive(resource: ControlledResource, namespace: string, visit: (object: SeenObject) => void): Promise<void> {
    return this.#visit(resource, namespace, visit, await this.#views(resource.arena).fence.pass())
  }

  async #visit(
    resource: ControlledResource,
    namespace: string,
    visit: (object: SeenObject) => void,
    inMemory: boolean,
  ): Promise<void> {
    const snapshot = inMemory ? this.#snapshot(resource) : undefined
    if (snapshot === undefined) {
      for (const object of await this.listStored(resource, namespace)) visit(storedObject(resource, object))
      return
    }
    const { startKey, endKey } = rangeOf(resource, namespace)
    try {
      snapshot.scan(startKey, endKey, (record) => {
        visit(new SeenObject(resource, record))
        return true
      })
    } finally {
      snapshot.release()
    }
  }

  /** The revision that memory has reached for a resource: reads after this call see at least it. */
  revision(resource: ControlledResource): number {
    return this.#views(resource.arena).clock.revision()
  }

  /** How many objects a namespace holds; live. */
  async countLive(resource: ControlledResource, namespace: string): Promise<number> {
    const passed = await this.#views(resource.arena).fence.pass()
    const snapshot = passed ? this.#snapshot(resource) : undefined
    if (snapshot === undefined) return (await this.listStored(resource, namespace)).length
    const { startKey, endKey } = rangeOf(resource, namespace)
    const count = snapshot.count(startKey, endKey)
    snapshot.release()
    return count
  }

  /** Reads the storage, page by page. */
  async listStored(resource: ControlledResource, namespace: string): Promise<KubeObject[]> {
    const items: KubeObject[] = []
    let token = ''
    do {
      const query = new URLSearchParams({ limit: String(PAGE), ...(token === '' ? {} : { continue: token }) })
      const list = (await this.#requests.send({
        verb: 'list',
        resource,
        place: { namespace, name: '' },
        query: query.toString(),
      })) as { items?: KubeObject[]; metadata?: { continue?: string } }
      // Items of a list carry no kind of their own.
      for (const item of list.items ?? []) items.push({ ...item, apiVersion: resource.apiVersion, kind: resource.kind })
      token = list.metadata?.continue ?? ''
    } while (token !== '')
    return items
  }

  async #get<T extends KubeObject>(
    resource: ControlledResource,
    place: ObjectPlace,
    inMemory: boolean,
  ): Promise<T | undefined> {
    // A name with a slash would reach another key.
    if (place.name === '' || place.name.includes('/') || place.namespace.includes('/')) return undefined
    const snapshot = inMemory ? this.#snapshot(resource) : undefined
    if (snapshot === undefined) return this.#getStored(resource, place)
    try {
      const record = snapshot.get(`${resource.keyPrefix}${keyOf(place)}`)
      return record && (parseJson(Buffer.from(record.body())).value as unknown as T)
    } finally {
      snapshot.release()
    }
  }

  async #getStored<T extends KubeObject>(resource: ControlledResource, place: ObjectPlace): Promise<T | undefined> {
    try {
      return (await this.#requests.send({ verb: 'get', resource, place })) as T
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return undefined
      throw error
    }
  }

  #snapshot(resource: ControlledResource): Snapshot | undefined {
    return openSnapshot(this.#views(resource.arena).arena(), 0)
  }
}

const rangeOf = ({ keyPrefix }: ControlledResource, namespace: string) =>
  keyRange(namespace === '' ? keyPrefix : `${keyPrefix}${namespace}/`, true)

/** An object that was read from the storage, as if it lay in memory. */
export function storedObject(resource: ControlledResource, object: KubeObject): SeenObject {
  const { namespace = '', name = '' } = object.metadata ?? {}
  return SeenObject.of(resource, keyOf({ namespace, name }), object)
}
