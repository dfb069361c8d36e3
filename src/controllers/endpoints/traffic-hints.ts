/**
 * Thread: controllers. What a service's `trafficDistribution` asks for: each ready endpoint says which zone, or which node, it
 * should serve. Without it no endpoint has a hint.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Service } from '../../api/generated/kinds/core.v1.js'
import type { Endpoint, EndpointSlice } from '../../api/generated/kinds/discovery.v1.js'
import type { SlicePlan } from './slice-plan.js'

const CLOSE = new Set(['PreferClose', 'PreferSameZone', 'PreferSameNode'])

/** Sets the hints of slices that are written, and adds slices to the plan whose hints are wrong. */
export function withHints(plan: SlicePlan, existing: readonly EndpointSlice[], service: Service): SlicePlan {
  const distribution = service.spec?.trafficDistribution ?? ''
  const hinted = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).map((endpoint) => hint(endpoint, distribution)),
  })
  const touched = new Set([...plan.update, ...plan.remove].map(({ metadata }) => metadata?.name))
  const wrong = existing.filter(
    (slice) => !touched.has(slice.metadata?.name) && !isDeepStrictEqual(hinted(slice).endpoints, slice.endpoints ?? []),
  )
  return { create: plan.create.map(hinted), update: [...plan.update, ...wrong].map(hinted), remove: plan.remove }
}

function hint({ hints, ...endpoint }: Endpoint, distribution: string): Endpoint {
  if (!CLOSE.has(distribution)) return endpoint
  // Only ready endpoints are hinted; the others keep what they have.
  if (endpoint.conditions?.ready !== true) return hints === undefined ? endpoint : { ...endpoint, hints }
  const { zone = '', nodeName = '' } = endpoint
  const wanted = {
    ...(zone === '' ? {} : { forZones: [{ name: zone }] }),
    ...(nodeName === '' || distribution !== 'PreferSameNode' ? {} : { forNodes: [{ name: nodeName }] }),
  }
  return Object.keys(wanted).length === 0 ? endpoint : { ...endpoint, hints: wanted }
}
