/**
 * Thread: main. The condition Available of an APIService: whether its service is there, listens, has endpoints, and answers when it is
 * asked what it serves. The reasons are Kubernetes' own, because people and tools look for them.
 */
import type { APIServiceCondition } from '../api/generated/kinds/apiregistration.v1.js'
import type { EndpointSlice } from '../api/generated/kinds/discovery.v1.js'
import type { RemoteService } from './api-service.js'
import type { ServiceDirectory } from './service-directory.js'

export type Availability = Required<Pick<APIServiceCondition, 'status' | 'reason' | 'message'>>

/** Asks the server for its discovery document; rejects with why there was none. */
export type DiscoveryProbe = (remote: RemoteService) => Promise<void>

export async function availability(
  remote: RemoteService,
  directory: Pick<ServiceDirectory, 'service' | 'endpointSlices'>,
  probe: DiscoveryProbe,
): Promise<Availability> {
  const missing = await missingPart(remote, directory)
  if (missing !== undefined) return { status: 'False', ...missing }
  try {
    await probe(remote)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { status: 'False', reason: 'FailedDiscoveryCheck', message }
  }
  return { status: 'True', reason: 'Passed', message: 'all checks passed' }
}

async function missingPart(
  { service: { namespace, name, port } }: RemoteService,
  directory: Pick<ServiceDirectory, 'service' | 'endpointSlices'>,
): Promise<Omit<Availability, 'status'> | undefined> {
  const place = `service/${name} in ${JSON.stringify(namespace)}`
  const service = directory.service(namespace, name)
  if (service === undefined) return { reason: 'ServiceNotFound', message: `${place} is not present` }
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined
  const found = (service.spec?.ports ?? []).find((one) => one.port === port)
  if (found === undefined) return { reason: 'ServicePortError', message: `${place} is not listening on port ${port}` }
  const slices = directory.endpointSlices(namespace, name)
  if (slices.length === 0) return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${place}` }
  const portName = found.name ?? ''
  if (slices.some((slice) => isReady(slice, portName))) return undefined
  return {
    reason: 'MissingEndpoints',
    message: `endpointslices for ${place} have no addresses with port name ${JSON.stringify(portName)}`,
  }
}

const isReady = ({ endpoints, ports }: EndpointSlice, portName: string): boolean =>
  (endpoints ?? []).some(({ conditions }) => conditions?.ready !== false) &&
  (ports ?? []).some(({ name, port }) => (name ?? '') === portName && typeof port === 'number')
