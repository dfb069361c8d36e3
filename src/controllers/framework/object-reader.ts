/**
 * Thread: controllers. Objects by name, and lists of them, from shared memory; what memory does not hold is read through the
 * pool. `live` reads see everything that was acknowledged to anybody before they began.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
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
/** So many objects are searched for bytes in one turn of the loop: 64 of the largest take some ten milliseconds. */
const LOOKS_A_TURN = 64
/** So many objects are only passed by in one turn: a millisecond or two. */
const VISITS_A_TURN = 2_048

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

  /**
   * The newest states of several objects, behind one fence; undefined is given for those that are not there. Each is valid during its
   * call alone. The loop turns between some and the next.
   */
  async lookLive(
    resource: ControlledResource,
    places: readonly ObjectPlace[],
    look: (place: ObjectPlace, object: SeenObject | undefined) => void,
  ): Promise<void> {
    const passed = await this.#views(resource.arena).fence.pass()
    for (let start = 0; start < places.length; start += LOOKS_A_TURN) {
      if (start > 0) await nextTurn()
      const some = places.slice(start, start + LOOKS_A_TURN)
      const snapshot = passed ? this.#snapshot(resource) : undefined
      if (snapshot === undefined) {
        for (const place of some) {
          const object = await this.#get(resource, place, false)
          look(place, object && storedObject(resource, object))
        }
        continue
      }
      try {
        for (const place of some) {
          const record = isKeyed(place) ? snapshot.get(`${resource.keyPrefix}${keyOf(place)}`) : undefined
          look(place, record && new SeenObject(resource, record))
        }
      } finally {
        snapshot.release()
      }
    }
  }

  /**
   * Every object that memory holds, in many turns of the loop, each turn at the state of its time; ends when `visit` gives false. A
   * resource that is not in memory has none.
   */
  async visitInTurns(resource: ControlledResource, visit: (object: SeenObject) => boolean): Promise<void> {
    const { startKey, endKey } = rangeOf(resource, '')
    let next: string | undefined = startKey
    while (next !== undefined) {
      const snapshot = this.#snapshot(resource)
      if (snapshot === undefined) return
      let left = VISITS_A_TURN
      const from: string = next
      next = undefined
      try {
        snapshot.scan(from, endKey, (record) => {
          if (!visit(new SeenObject(resource, record))) return false
          // The next turn begins behind this key: no key lies between it and itself with a zero byte.
          if (--left === 0) next = `${record.key}\0`
          return left > 0
        })
      } finally {
        snapshot.release()
      }
      if (next !== undefined) await nextTurn()
    }
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
    if (!isKeyed(place)) return undefined
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

/** Whether the place is one object's: a name with a slash would reach another key. */
const isKeyed = ({ namespace, name }: ObjectPlace): boolean =>
  name !== '' && !name.includes('/') && !namespace.includes('/')

const rangeOf = ({ keyPrefix }: ControlledResource, namespace: string) =>
  keyRange(namespace === '' ? keyPrefix : `${keyPrefix}${namespace}/`, true)

/** An object that was read from the storage, as if it lay in memory. */
export function storedObject(resource: ControlledResource, object: KubeObject): SeenObject {
  const { namespace = '', name = '' } = object.metadata ?? {}
  return SeenObject.of(resource, keyOf({ namespace, name }), object)
}
