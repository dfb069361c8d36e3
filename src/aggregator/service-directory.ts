/**
 * Thread: any but the owner. Where services are, from shared memory: by their cluster IP, by their endpoints
 * (--enable-aggregator-routing, where cluster IPs cannot be reached), or by the name that they stand for.
 */
import type { Service } from '../api/generated/kinds/core.v1.js'
import type { EndpointSlice } from '../api/generated/kinds/discovery.v1.js'
import { metadataOf } from '../api/object.js'
import { NEWEST, openSnapshot } from '../cacher/read/resolve.js'
import type { ResourceView } from '../cacher/read/resource-view.js'
import type { Random } from '../lib/jitter.js'
import { prefixEnd } from '../storage/contract/kv.js'
import type { ServiceReference } from './api-service.js'

export interface Address {
  readonly host: string
  readonly port: number
}

/** A service that cannot be reached, and why. */
export class ServiceUnreachable extends Error {
  override readonly name = 'ServiceUnreachable'
  readonly code = 'service-unreachable'
}

/** A resource in memory and the prefix of its keys. */
export interface DirectorySource {
  readonly view: Pick<ResourceView, 'arena'>
  readonly keyPrefix: string
}

export interface ServiceDirectoryOptions {
  readonly services: DirectorySource
  readonly endpointSlices: DirectorySource
  /** Whether requests go to endpoints instead of the cluster IP. */
  readonly byEndpoints: boolean
  readonly random: Random
}

const SERVICE_LABEL = 'kubernetes.io/service-name'

export class ServiceDirectory {
  readonly #options: ServiceDirectoryOptions

  constructor(options: ServiceDirectoryOptions) {
    this.#options = options
  }

  service(namespace: string, name: string): Service | undefined {
    const { view, keyPrefix } = this.#options.services
    const snapshot = openSnapshot(view.arena(), NEWEST.revision)
    if (snapshot === undefined) throw new ServiceUnreachable('services are not in memory')
    try {
      const record = snapshot.get(`${keyPrefix}${namespace}/${name}`)
      return record && (JSON.parse(Buffer.from(record.body()).toString()) as Service)
    } finally {
      snapshot.release()
    }
  }

  endpointSlices(namespace: string, name: string): EndpointSlice[] {
    const { view, keyPrefix } = this.#options.endpointSlices
    const snapshot = openSnapshot(view.arena(), NEWEST.revision)
    if (snapshot === undefined) throw new ServiceUnreachable('endpoint slices are not in memory')
    const found: EndpointSlice[] = []
    try {
      const root = `${keyPrefix}${namespace}/`
      snapshot.scan(root, prefixEnd(root), (record) => {
        if (record.labels.get(SERVICE_LABEL) === name)
          found.push(JSON.parse(Buffer.from(record.body()).toString()) as EndpointSlice)
        return true
      })
    } finally {
      snapshot.release()
    }
    return found
  }

  /** The address of a service; throws ServiceUnreachable. */
  resolve({ namespace, name, port }: ServiceReference): Address {
    const service = this.service(namespace, name)
    if (service === undefined) throw new ServiceUnreachable(`service ${JSON.stringify(name)} not found`)
    const { type = 'ClusterIP', clusterIP = '', externalName = '' } = service.spec ?? {}
    if (this.#options.byEndpoints) {
      if (type === 'ExternalName') throw new ServiceUnreachable(`unsupported service type ${JSON.stringify(type)}`)
      return this.#endpoint(namespace, name, service, portOf(service, port).name ?? '')
    }
    if (type === 'ExternalName') return { host: externalName, port }
    if (clusterIP === '' || clusterIP === 'None')
      throw new ServiceUnreachable(`cannot route to service with ClusterIP ${JSON.stringify(clusterIP)}`)
    return { host: clusterIP, port: portOf(service, port).port ?? port }
  }

  /** A ready endpoint by chance; those of the service's first family are tried first. */
  #endpoint(namespace: string, name: string, service: Service, portName: string): Address {
    const { random } = this.#options
    const preferred = service.spec?.ipFamilies?.[0]
    const candidates = this.endpointSlices(namespace, name).flatMap(({ addressType, ports, endpoints }) => {
      const port = (ports ?? []).find((one) => (one.name ?? '') === portName && one.port !== undefined)?.port
      if (port === undefined || port === null) return []
      return (endpoints ?? [])
        .filter(({ conditions, addresses }) => conditions?.ready !== false && (addresses ?? []).length > 0)
        .map(({ addresses }) => ({ host: addresses![0]!, port, isPreferred: addressType === preferred }))
    })
    const best = candidates.some(({ isPreferred }) => isPreferred)
      ? candidates.filter(({ isPreferred }) => isPreferred)
      : candidates
    const chosen = best[Math.floor(random() * best.length)]
    if (chosen === undefined) throw new ServiceUnreachable(`no endpoints available for service ${JSON.stringify(name)}`)
    return { host: chosen.host, port: chosen.port }
  }
}

type ServicePort = NonNullable<NonNullable<NonNullable<Service['spec']>['ports']>[number]>

export function portOf(service: Service, port: number): ServicePort {
  const found = (service.spec?.ports ?? []).find((one) => one.port === port)
  if (found !== undefined) return found
  throw new ServiceUnreachable(
    `no service port ${port} found for service ${JSON.stringify(metadataOf(service).name ?? '')}`,
  )
}
