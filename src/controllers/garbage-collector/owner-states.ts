/**
 * Thread: controllers. What has become of the owners that an object names, read live. An object can name thousands: those of one
 * resource are read together, behind one fence, some in a turn of the loop, and none is parsed that is not being deleted.
 */
import { formatGroupVersion } from '../../api/group-version.js'
import type { OwnerReference } from '../../api/object.js'
import type { RemoteResource } from '../../protocol/main-controllers.js'
import { type ControlledResource, kindKey } from '../framework/controlled-resource.js'
import type { ControllerContext } from '../framework/controller.js'
import { RemoteFailure, type RemoteObjects } from '../framework/remote-objects.js'
import type { ObjectPlace, SeenObject } from '../framework/seen-object.js'
import { DELETED, FOREGROUND } from './owner-watch.js'

/**
 * - solid: the owner is there;
 * - waiting: it is being deleted, and waits for its dependents;
 * - absent: it is not there, or another object has its name;
 * - unresolvable: it would lie in a namespace, and the dependent lies in none;
 * - unknown: nobody serves its kind, or its server does not answer, so nobody can say that it is gone.
 *
 * Owners that extension API servers hold are asked of those; nobody tells when they go, so they are asked again after a while.
 */
export type OwnerState = 'solid' | 'waiting' | 'absent' | 'unresolvable' | 'unknown'

export interface OwnerStates {
  readonly solid: readonly OwnerReference[]
  readonly waiting: readonly OwnerReference[]
  /** Some owner is unresolvable or unknown: nothing may be decided. */
  readonly unsure: boolean
  /** Some owner is another server's. */
  readonly elsewhere: boolean
  /** Owners in namespaces that are not where the dependent is, by their resource. */
  readonly missing: ReadonlyMap<ControlledResource, readonly OwnerReference[]>
}

export async function ownerStates(
  { resources, objects, remotes }: Pick<ControllerContext, 'resources' | 'objects' | 'remotes'>,
  namespace: string,
  owners: readonly OwnerReference[],
): Promise<OwnerStates> {
  const states = new Map<OwnerReference, OwnerState>()
  let elsewhere = false
  for (const [resource, references] of byResource(resources, owners)) {
    if (resource === undefined) {
      elsewhere = await askElsewhere(remotes, namespace, references, states)
      continue
    }
    if (resource.namespaced && namespace === '') {
      for (const reference of references) states.set(reference, 'unresolvable')
      continue
    }
    const byName = groupBy(references, ({ name }) => name)
    const within = resource.namespaced ? namespace : ''
    const places = [...byName.keys()].map((name): ObjectPlace => ({ namespace: within, name }))
    await objects.lookLive(resource, places, ({ name }, owner) => {
      for (const reference of byName.get(name) ?? []) states.set(reference, stateOf(reference, owner))
    })
  }
  return { ...summary(resources, owners, states), elsewhere }
}

/** So many owners of one object are asked of other servers; an object that names more stays as it is. */
const MAX_ELSEWHERE = 100

/** Tells whether an owner is of a kind that another server has, or may have. */
async function askElsewhere(
  remotes: RemoteObjects,
  namespace: string,
  references: readonly OwnerReference[],
  states: Map<OwnerReference, OwnerState>,
): Promise<boolean> {
  const { resources, failures } = await remotes.recentReport()
  const isSilent = new Set(failures.map(({ groupVersion }) => groupVersion))
  const kinds = new Map(resources.map((one) => [kindKey(formatGroupVersion(one), one.kind), one]))
  let asked = 0
  let elsewhere = false
  for (const reference of references) {
    const { apiVersion, kind } = reference
    const resource = kinds.get(kindKey(apiVersion, kind))
    if (resource !== undefined || isSilent.has(apiVersion)) elsewhere = true
    if (resource === undefined || ++asked > MAX_ELSEWHERE) states.set(reference, 'unknown')
    else states.set(reference, await remoteState(remotes, resource, namespace, reference))
  }
  return elsewhere
}

async function remoteState(
  remotes: RemoteObjects,
  resource: RemoteResource,
  namespace: string,
  { name, uid }: OwnerReference,
): Promise<OwnerState> {
  if (resource.namespaced && namespace === '') return 'unresolvable'
  if (name === '' || !resource.verbs.includes('get')) return 'unknown'
  try {
    const owner = await remotes.get(resource, { namespace: resource.namespaced ? namespace : '', name })
    if (owner?.metadata?.uid !== uid) return 'absent'
    const { deletionTimestamp, finalizers = [] } = owner.metadata
    return deletionTimestamp !== undefined && finalizers.includes(FOREGROUND) ? 'waiting' : 'solid'
  } catch (error) {
    if (error instanceof RemoteFailure) return 'unknown'
    throw error
  }
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
): Omit<OwnerStates, 'elsewhere'> {
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
