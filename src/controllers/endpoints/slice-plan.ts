/**
 * Thread: controllers. Which EndpointSlices must be written so that they hold the endpoints that are wanted, changing as few
 * as possible: endpoints stay where they are, slices that change anyway are filled first, then one that has room for the rest,
 * and only then new ones are made. Slices that would go are used for what would be new.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Endpoint, EndpointPort, EndpointSlice } from '../../api/generated/kinds/discovery.v1.js'

/** kube-controller-manager's --max-endpoints-per-slice. */
const MAX_ENDPOINTS = 100

export interface WantedSlices {
  readonly ports: readonly EndpointPort[]
  readonly endpoints: readonly Endpoint[]
}

export interface SlicePlan {
  readonly create: EndpointSlice[]
  readonly update: EndpointSlice[]
  readonly remove: EndpointSlice[]
}

/** Ports by which slices are grouped: two sets in another order are one. */
export const portsKey = (ports: readonly EndpointPort[] | null | undefined): string =>
  JSON.stringify(
    (ports ?? [])
      .map(({ name = '', protocol = 'TCP', port, appProtocol = '' }) =>
        JSON.stringify([name, protocol, port ?? null, appProtocol]),
      )
      .sort(),
  )

const identity = ({ addresses, targetRef, nodeName = '' }: Endpoint): string =>
  JSON.stringify([[...(addresses ?? [])].sort(), targetRef?.uid ?? '', nodeName])

/**
 * `existing` all have these ports. `adopt` gives a slice the labels that it should have: the same object when it has them.
 * `make` gives a new slice without endpoints.
 */
export function planSlices(
  existing: readonly EndpointSlice[],
  { endpoints }: WantedSlices,
  adopt: (slice: EndpointSlice) => EndpointSlice,
  make: () => EndpointSlice,
): SlicePlan {
  const wanted = new Map(endpoints.map((endpoint) => [identity(endpoint), endpoint]))
  const update: EndpointSlice[] = []
  const remove: EndpointSlice[] = []
  const unchanged: EndpointSlice[] = []
  for (const slice of existing) {
    const before = slice.endpoints ?? []
    const kept: Endpoint[] = []
    for (const endpoint of before) {
      const match = wanted.get(identity(endpoint))
      if (match === undefined) continue
      kept.push(match)
      wanted.delete(identity(endpoint))
    }
    const adopted = adopt(slice)
    if (kept.length === 0 && before.length > 0) remove.push(slice)
    else if (!isDeepStrictEqual(kept.map(withoutHints), before.map(withoutHints)))
      update.push({ ...adopted, endpoints: kept })
    else if (adopted !== slice) update.push({ ...adopted, endpoints: [...before] })
    else unchanged.push(slice)
  }
  const left = [...wanted.values()]
  const fuller = (a: EndpointSlice, b: EndpointSlice): number => sizeOf(b) - sizeOf(a)
  for (const slice of update.sort(fuller)) fill(slice, left)
  const create: EndpointSlice[] = []
  while (left.length > 0) {
    const room = left.length < MAX_ENDPOINTS ? bestFit(unchanged, left.length) : undefined
    const slice = room === undefined ? make() : { ...room, endpoints: [...(room.endpoints ?? [])] }
    if (room !== undefined) unchanged.splice(unchanged.indexOf(room), 1)
    fill(slice, left)
    ;(room === undefined ? create : update).push(slice)
  }
  return { create, update, remove }
}

/** New slices take the names of slices that would go, as far as those may be used again. */
export function recycle(
  { create, update, remove }: SlicePlan,
  isReusable: (slice: EndpointSlice) => boolean,
): SlicePlan {
  const made = [...create]
  const changed = [...update]
  const gone: EndpointSlice[] = []
  for (const old of remove) {
    const slice = isReusable(old) ? made.pop() : undefined
    if (slice === undefined) {
      gone.push(old)
      continue
    }
    const { generateName: _, ...metadata } = slice.metadata ?? {}
    changed.push({ ...slice, metadata: { ...metadata, name: old.metadata?.name ?? '' } })
  }
  return { create: made, update: changed, remove: gone }
}

const sizeOf = ({ endpoints }: EndpointSlice): number => endpoints?.length ?? 0

function fill(slice: EndpointSlice, left: Endpoint[]): void {
  const endpoints = slice.endpoints ?? []
  endpoints.push(...left.splice(0, Math.max(0, MAX_ENDPOINTS - endpoints.length)))
  slice.endpoints = endpoints
}

/** The slice that is fullest with so many more endpoints in it. */
function bestFit(slices: readonly EndpointSlice[], count: number): EndpointSlice | undefined {
  return slices
    .filter((slice) => sizeOf(slice) + count <= MAX_ENDPOINTS)
    .reduce<EndpointSlice | undefined>(
      (best, slice) => (best === undefined || sizeOf(slice) > sizeOf(best) ? slice : best),
      undefined,
    )
}

const withoutHints = ({ hints: _, ...endpoint }: Endpoint): Endpoint => endpoint
