/**
 * Thread: main. The kubernetes service, at which pods find this server: the service itself, its endpoints and their
 * slice. Servers on one etcd each hold a lease there; the endpoints are those that do. The embedded engine has one
 * server, so there is nothing to agree on and nothing is written while nothing changes.
 */
import { isIPv6 } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../api/object.js'
import type { BootstrapTask } from './bootstrap.js'
import { SERVICE_CIDR_TASK, SYSTEM_NAMESPACES_TASK } from './bootstrap-objects.js'
import type { LoopbackClient } from './loopback-client.js'

const NAME = 'kubernetes'
const SERVICES = '/api/v1/namespaces/default/services'
const ENDPOINTS = '/api/v1/namespaces/default/endpoints'
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'
const SERVICE_PORT = 443
const PORT_NAME = 'https'
const SKIP_MIRROR = 'endpointslice.kubernetes.io/skip-mirror'
const SYNC_MS = 10_000

/** The other servers on the same storage. */
export interface Peers {
  /** Says that this server is there; gives the addresses of all that are. */
  hold(): Promise<string[]>
  /**
   * Says that this server goes; gives the addresses of those that stay. Undefined: the endpoints are left as they are.
   */
  drop(): Promise<string[] | undefined>
}

export interface KubernetesServiceOptions {
  readonly client: LoopbackClient
  readonly clusterIP: string
  readonly nodePort: number
  /** The port that this server listens on. */
  readonly port: number
  /** Undefined when this server knows of no endpoints of the service. */
  readonly peers: Peers | undefined
}

interface EndpointPort {
  name?: string
  port?: number
  protocol?: string
}

interface Endpoints extends KubeObject {
  subsets?: { addresses?: { ip?: string }[]; ports?: EndpointPort[] }[]
}

export function kubernetesService(options: KubernetesServiceOptions): BootstrapTask {
  const { client, clusterIP, nodePort, port, peers } = options
  const reconcile = new EndpointReconciler(client, port)
  let started = false
  return {
    name: 'kubernetes service',
    after: [SYSTEM_NAMESPACES_TASK, SERVICE_CIDR_TASK, SERVICE_REPAIR_TASK],
    everyMs: SYNC_MS,
    run: async () => {
      const [addresses] = await Promise.all([
        peers?.hold(),
        client.ensure(SERVICES, serviceObject(clusterIP, port, nodePort)),
      ])
      if (addresses !== undefined && addresses.length > 0) await reconcile.run(addresses, { ports: !started })
      started = true
    },
    stop: async () => {
      const left = started ? await peers?.drop() : undefined
      if (left !== undefined) await reconcile.run(left, { ports: true })
    },
  }
}

export const SERVICE_REPAIR_TASK = 'repair of addresses and node ports'

function serviceObject(clusterIP: string, targetPort: number, nodePort: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: NAME, namespace: 'default', labels: { provider: 'kubernetes', component: 'apiserver' } },
    spec: {
      type: nodePort > 0 ? 'NodePort' : 'ClusterIP',
      clusterIP,
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      ports: [
        { name: PORT_NAME, protocol: 'TCP', port: SERVICE_PORT, targetPort, ...(nodePort > 0 ? { nodePort } : {}) },
      ],
    },
  }
}

/** Keeps the endpoints and their slice right, and writes only what differs. */
class EndpointReconciler {
  readonly #client: LoopbackClient
  readonly #port: number

  constructor(client: LoopbackClient, port: number) {
    this.#client = client
    this.#port = port
  }

  async run(addresses: readonly string[], { ports: checkPorts }: { readonly ports: boolean }): Promise<void> {
    const found = (await this.#client.get(`${ENDPOINTS}/${NAME}`)) as Endpoints | undefined
    const ports: EndpointPort[] = [{ name: PORT_NAME, port: this.#port, protocol: 'TCP' }]
    const sorted = [...addresses].sort()
    const subset = found?.subsets?.length === 1 ? found.subsets[0] : undefined
    const right =
      subset !== undefined &&
      found?.metadata?.labels?.[SKIP_MIRROR] === 'true' &&
      isDeepStrictEqual((subset.addresses ?? []).map(({ ip }) => ip).sort(), sorted) &&
      (!checkPorts || isDeepStrictEqual(subset.ports, ports))
    const kept = !checkPorts && subset?.ports !== undefined ? subset.ports : ports
    if (!right) await this.#write(found, sorted, kept)
    await this.#slice(sorted, right ? (subset.ports ?? ports) : kept)
  }

  async #write(found: Endpoints | undefined, addresses: readonly string[], ports: EndpointPort[]): Promise<void> {
    const { metadata } = found ?? {}
    const object = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: {
        ...metadata,
        name: NAME,
        namespace: 'default',
        labels: { ...metadata?.labels, [SKIP_MIRROR]: 'true' },
      },
      // Without addresses there is nothing to reach, on whatever port.
      subsets: addresses.length === 0 ? [] : [{ addresses: addresses.map((ip) => ({ ip })), ports }],
    }
    if (found === undefined) await this.#client.create(ENDPOINTS, object)
    else await this.#client.update(`${ENDPOINTS}/${NAME}`, object)
  }

  async #slice(addresses: readonly string[], ports: readonly EndpointPort[]): Promise<void> {
    const addressType = addresses.length > 0 && addresses.every((ip) => isIPv6(ip)) ? 'IPv6' : 'IPv4'
    const wanted = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: NAME, namespace: 'default', labels: { 'kubernetes.io/service-name': NAME } },
      addressType,
      endpoints: addresses
        .filter((ip) => isIPv6(ip) === (addressType === 'IPv6'))
        .map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
      ports:
        addresses.length === 0 ? [] : ports.map(({ name = '', port = 0, protocol = '' }) => ({ name, port, protocol })),
    }
    const found = await this.#client.get(`${SLICES}/${NAME}`)
    if (found !== undefined && found['addressType'] === addressType) {
      const { endpoints, ports: had, metadata } = found
      const same = [endpoints ?? [], had ?? [], metadata?.labels]
      if (isDeepStrictEqual(same, [wanted.endpoints, wanted.ports, wanted.metadata.labels])) return
      await this.#client.update(`${SLICES}/${NAME}`, { ...wanted, metadata: { ...metadata, ...wanted.metadata } })
      return
    }
    // The address family of a slice cannot change, so the slice is made anew.
    if (found !== undefined) await this.#client.delete(`${SLICES}/${NAME}`)
    await this.#client.create(SLICES, wanted)
  }
}
