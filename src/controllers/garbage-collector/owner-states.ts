/**
 * Thread: controllers. What has become of the owners that an object names, read live. An object can name thousands: those of one
 * resource are read together, behind one fence, some in a turn of the loop, and none is parsed that is not being deleted.
 */
import type { OwnerReference } from '../../api/object.js'
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { ControllerContext } from '../framework/controller.js'
import type { ObjectPlace, SeenObject } from '../framework/seen-object.js'
import { DELETED, FOREGROUND } from './owner-watch.js'

/**
 * - solid: the owner is there;
 * - waiting: it is being deleted, and waits for its dependents;
 * - absent: it is not there, or another object has its name;
 * - unresolvable: it would lie in a namespace, and the dependent lies in none;
 * - unknown: nobody serves its kind, so nobody can say that it is gone.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'unresolvable' | 'unknown'

export interface OwnerStates {
  readonly solid: readonly OwnerReference[]
  readonly waiting: readonly OwnerReference[]
  /** Some owner is unresolvable or unknown: nothing may be decided. */
  readonly unsure: boolean
  /** Owners in namespaces that are not where the dependent is, by their resource. */
  readonly missing: ReadonlyMap<ControlledResource, readonly OwnerReference[]>
}

export async function ownerStates(
  { resources, objects }: Pick<ControllerContext, 'resources' | 'objects'>,
  namespace: string,
  owners: readonly OwnerReference[],
): Promise<OwnerStates> {
  const states = new Map<OwnerReference, OwnerState>()
  for (const [resource, references] of byResource(resources, owners)) {
    if (resource === undefined || (resource.namespaced && namespace === '')) {
      for (const reference of references) states.set(reference, resource === undefined ? 'unknown' : 'unresolvable')
      continue
    }
    const byName = groupBy(references, ({ name }) => name)
    const within = resource.namespaced ? namespace : ''
    const places = [...byName.keys()].map((name): ObjectPlace => ({ namespace: within, name }))
    await objects.lookLive(resource, places, ({ name }, owner) => {
      for (const reference of byName.get(name) ?? []) states.set(reference, stateOf(reference, owner))
    })
  }
  return summary(resources, owners, states)
}

function stateOf({ uid }: OwnerReference, owner: SeenObject | undefined): OwnerState {
  if (owner?.uid !== uid) return 'absent'
  if (!owner.mentions(DELETED)) return 'solid'
  const { deletionTimestamp, finalizers = [] } = owner.read().metadata ?? {}
  return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND) ? 'waiting' : 'solid'
}

function byResource(
  resources: ControllerContext['resources'],
  owners: readonly OwnerReference[],
): Map<ControlledResource | undefined, OwnerReference[]> {
  return groupBy(owners, ({ apiVersion, kind }) => resources.findKind(apiVersion, kind))
}

function summary(
  resources: ControllerContext['resources'],
  owners: readonly OwnerReference[],
  states: ReadonlyMap<OwnerReference, OwnerState>,
): OwnerStates {
  const of = (...wanted: OwnerState[]): OwnerReference[] =>
    owners.filter((reference) => wanted.includes(states.get(reference) ?? 'unknown'))
  const missing = new Map<ControlledResource, OwnerReference[]>()
  for (const [resource, references] of byResource(resources, of('absent', 'unresolvable')))
    if (resource?.namespaced === true) missing.set(resource, references)
  return { solid: of('solid'), waiting: of('waiting'), unsure: of('unresolvable', 'unknown').length > 0, missing }
}

function groupBy<K, T>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
