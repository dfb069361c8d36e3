/** Thread: pool. Where the service of a webhook is: its cluster IP or external name, from shared memory, as kube-apiserver has it. */
import type { Service } from '../../api/generated/kinds/core.v1.js'
import type { AdmissionObjects, ResourceOf } from '../objects.js'

export interface ServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** The address of a service; throws ServiceError. Whoever routes through something else puts its own in place. */
export type ServiceResolver = (service: ServiceReference) => Promise<Address>

export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code = 'service'
}

const SERVICES: ResourceOf<Service> = { group: '', version: 'v1', resource: 'services' }

export const clusterIPResolver =
  (objects: Pick<AdmissionObjects, 'get'>): ServiceResolver =>
  async ({ namespace, name, port }) => {
    const service = await objects.get(SERVICES, namespace, name)
    if (service === undefined) throw new ServiceError(`service ${JSON.stringify(name)} not found`)
    const { type = 'ClusterIP', clusterIP = '', externalName = '', ports } = service.spec ?? {}
    if (type === 'ExternalName') return { host: externalName, port }
    if (clusterIP === '' || clusterIP === 'None')
      throw new ServiceError(`cannot route to service with ClusterIP ${JSON.stringify(clusterIP)}`)
    if (!(ports ?? []).some((one) => one.port === port))
      throw new ServiceError(`no service port ${port} found for service ${JSON.stringify(name)}`)
    return { host: clusterIP, port }
  }
