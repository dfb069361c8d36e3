/** The steps of clients that write. */
import type { Random } from '../../support/fuzz.js'
import type { SharedNames } from './lane.js'
import type { ObjectClient, Place } from './object-client.js'
import { type LoadObject, revisionOf } from './recorder.js'
import { CONFIG_MAPS, type LoadResource, NAMESPACE } from './resources.js'

export interface RegisterLoad {
  readonly client: ObjectClient
  readonly resource: LoadResource
  readonly namespace: string
  readonly names: SharedNames
  /** Objects are only created and deleted: what is of interest is how many there are, or what they were given. */
  readonly onlyLife?: boolean
}

/** Everything that can be done with an object, from what was read of it some time ago as well as from what is there now. */
export function registerStep({ client, resource, namespace, names, onlyLife = false }: RegisterLoad) {
  const read = new Map<string, LoadObject>()
  return async (random: Random): Promise<void> => {
    const place: Place = { resource, namespace, name: names.pick(random) }
    const base = read.get(place.name)
    const kind = random.below(onlyLife ? 40 : 100)
    let object: LoadObject | undefined
    if (kind < 18) object = await client.create(place, { finalizers: !onlyLife && random.chance(20) })
    else if (kind < 26) await client.delete(place, base && random.chance(50) ? revisionOf(base) : undefined)
    else if (kind < 40) object = await client.get(place)
    else if (kind < 52) object = await readAndUpdate(client, place)
    else if (kind < 70 && base !== undefined) object = await client.update(place, base, isReleased(base, random))
    else if (kind < 80) object = await client.patch(place, { unhold: random.chance(25) })
    else if (kind < 90) object = await client.apply(place)
    else object = await client.get(place)
    if (object !== undefined) read.set(place.name, object)
  }
}

/** What is being deleted loses its finalizers in most updates. */
const isReleased = ({ metadata }: LoadObject, random: Random): { finalizers?: boolean } =>
  metadata.deletionTimestamp !== undefined && random.chance(70) ? { finalizers: false } : {}

async function readAndUpdate(client: ObjectClient, place: Place): Promise<LoadObject | undefined> {
  const object = await client.get(place)
  return object && client.update(place, object)
}

/** Owners with dependents, and the deletion of some: the rest is the garbage collector's. */
export class Families {
  /** Owners by name, with the dependents whose creation was answered. */
  readonly owners = new Map<string, string[]>()
  #next = 0

  step(client: ObjectClient) {
    return async (random: Random): Promise<void> => {
      const [name] = [...this.owners.keys()].slice(-1 - random.below(4))
      if (name !== undefined && random.chance(30)) {
        await client.delete(configMap(name))
        return
      }
      const number = this.#next++
      const owner = await client.create(configMap(`owner-${number}`))
      if (owner === undefined) return
      const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: owner.metadata.name, uid: owner.metadata['uid'] }
      const dependents: string[] = []
      for (let i = 0; i < 2; i++) {
        const dependent = `${DEPENDENT}${number}-${i}`
        const created = await client.create(configMap(dependent), { more: { ownerReferences: [reference] } })
        if (created !== undefined) dependents.push(dependent)
      }
      this.owners.set(owner.metadata.name, dependents)
    }
  }
}

export const DEPENDENT = 'dependent-'
export const configMap = (name: string): Place => ({ resource: CONFIG_MAPS, namespace: NAMESPACE, name })
