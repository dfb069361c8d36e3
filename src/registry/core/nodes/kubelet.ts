/** Thread: pool. Where the kubelet of a node is, as the node's status says it. */
import type { KubeObject } from '../../../api/object.js'
import { newNotFound, newUnknown, StatusError } from '../../../api/status.js'
import type { ConnectPlan } from '../../../protocol/main-pool.js'
import type { ConnectDependencies } from '../../generic/connecter.js'
import type { RequestContext } from '../../generic/strategy.js'

interface Node extends KubeObject {
  status?: {
    addresses?: { type?: string; address?: string }[]
    daemonEndpoints?: { kubeletEndpoint?: { Port?: number } }
    declaredFeatures?: string[]
  }
}

export interface Kubelet {
  readonly host: string
  readonly port: number
  readonly extendedWebSockets: boolean
}

/** Kubelets that have it speak the protocols that would otherwise have to be translated. */
const EXTENDED_WEB_SOCKETS = 'ExtendWebSocketsToKubelet'

/** Throws a StatusError. */
export async function kubeletOf(
  nodeName: string,
  context: RequestContext,
  { endpoints, connection }: Pick<ConnectDependencies, 'endpoints' | 'connection'>,
): Promise<Kubelet> {
  const node = await nodeOf(nodeName, context, endpoints)
  const { addresses = [], daemonEndpoints, declaredFeatures = [] } = node.status ?? {}
  const preferred = connection.preferredAddressTypes
    .map((type) => addresses.find((address) => address.type === type))
    .find((address) => address !== undefined)
  if (preferred?.address === undefined) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')
    throw newUnknown(`no preferred addresses found; known addresses: [${known}]`)
  }
  const port = daemonEndpoints?.kubeletEndpoint?.Port ?? 0
  return {
    host: preferred.address,
    port: port > 0 ? port : connection.kubeletPort,
    extendedWebSockets: declaredFeatures.includes(EXTENDED_WEB_SOCKETS),
  }
}

/** A node that is missing is said to be what the request is for, as in Kubernetes: pods "n1" not found. */
async function nodeOf(
  name: string,
  context: RequestContext,
  endpoints: ConnectDependencies['endpoints'],
): Promise<Node> {
  const { store } = endpoints.find({ apiGroup: '', apiVersion: 'v1', resource: 'nodes', subresource: '' })
  try {
    return await store.get({ ...context, namespace: '' }, name)
  } catch (error) {
    if (error instanceof StatusError && error.code === 404)
      throw newNotFound({ group: context.apiGroup, resource: context.resource }, name)
    throw error
  }
}

export function toKubelet(kind: ConnectPlan['kind'], kubelet: Kubelet, path: string, query: string): ConnectPlan {
  return { kind, scheme: 'https', trust: 'kubelet', path: query === '' ? path : `${path}?${query}`, ...kubelet }
}
