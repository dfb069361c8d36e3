/** Thread: pool. Where a request goes that is passed on: the pod, its node, the node's kubelet. */

import { lookup } from 'node:dns/promises'
import type { Pod } from '../../../api/generated/kinds/core.v1.js'
import { formatGroupVersion } from '../../../api/group-version.js'
import type { JsonObject, KubeObject } from '../../../api/object.js'
import { newBadRequest, newNotFound, newServiceUnavailable, newUnknown, StatusError } from '../../../api/status.js'
import type { ConnectPlan } from '../../../protocol/main-pool.js'
import type { ConnectionConfig } from '../../../protocol/pool-start.js'
import { allContainers } from '../../../registry/core/pod-template/pod-spec.js'
import type { EndpointSource } from '../../../registry/generic/rest-dependencies.js'
import type { RequestContext } from '../../../registry/generic/strategy.js'
import { admissionAttributes } from '../admission-attributes.js'
import type { WorkerRequest } from '../request.js'
import { isProxyableAddress, splitSchemeNamePort } from './addresses.js'
import { serviceAddress } from './service-address.js'
import { logOptions, portForwardQuery, streamQuery } from './stream-options.js'

interface Node extends KubeObject {
  status?: {
    addresses?: { type?: string; address?: string }[]
    daemonEndpoints?: { kubeletEndpoint?: { Port?: number } }
    declaredFeatures?: string[]
  }
}

interface Kubelet {
  readonly host: string
  readonly port: number
  readonly extendedWebSockets: boolean
}

/** Kubelets that have it speak the protocols that would otherwise have to be translated. */
const EXTENDED_WEB_SOCKETS = 'ExtendWebSocketsToKubelet'

export interface ConnectOptions {
  readonly endpoints: EndpointSource
  readonly config: ConnectionConfig
  readonly random: () => number
  /** Whether pods and nodes may be proxied to at an address. */
  readonly mayReach?: (address: string) => boolean
}

export class Connect {
  readonly #endpoints: EndpointSource
  readonly #config: ConnectionConfig
  readonly #random: () => number
  readonly #mayReach: (address: string) => boolean

  constructor({ endpoints, config, random, mayReach = isProxyableAddress }: ConnectOptions) {
    this.#endpoints = endpoints
    this.#config = config
    this.#random = random
    this.#mayReach = mayReach
  }

  /** Undefined: there is nothing to show, and never will be without a node. Throws a StatusError. */
  async plan(worker: WorkerRequest): Promise<ConnectPlan | undefined> {
    const { info } = worker.request
    const context = worker.context(false)
    if (info.subresource !== 'log') await this.#admit(worker)
    switch (info.subresource) {
      case 'log':
        return this.#log(worker, context)
      case 'exec':
      case 'attach':
        return this.#stream(worker, context)
      case 'portforward': {
        const pod = await this.#pod(context, info.name)
        const kubelet = await this.#kubelet(context, nodeOf(pod, info.name))
        const path = `/portForward/${info.namespace}/${pod.metadata?.name ?? ''}`
        return toKubelet('upgrade', kubelet, path, portForwardQuery(worker.query))
      }
      default:
        return this.#proxy(worker, context)
    }
  }

  /** Connecting is admitted too; its object are the options. */
  async #admit(worker: WorkerRequest): Promise<void> {
    const { info } = worker.request
    const own = worker.endpoint.info.subresources.find(({ name }) => name === info.subresource)
    const { group = '', version = 'v1', kind = '' } = own ?? {}
    const object: JsonObject = { kind, apiVersion: formatGroupVersion({ group, version }) }
    for (const key of new Set(worker.query.keys())) object[key] = worker.query.get(key)
    const objects = { object: object as KubeObject, name: info.name }
    const attributes = { ...admissionAttributes(worker, 'CONNECT', false, objects), kind: { group, version, kind } }
    await worker.admission.admit(attributes)
    await worker.admission.validate(attributes)
  }

  async #log(worker: WorkerRequest, context: RequestContext): Promise<ConnectPlan | undefined> {
    const { info } = worker.request
    const options = logOptions(worker.query, info.name)
    const pod = await this.#pod(context, info.name)
    const container = containerOf(pod, options.container)
    const nodeName = pod.spec?.nodeName ?? ''
    if (nodeName === '') return undefined
    const kubelet = await this.#kubelet(context, nodeName)
    const path = `/containerLogs/${info.namespace}/${pod.metadata?.name ?? ''}/${container}`
    const plan = toKubelet('log', kubelet, path, options.query)
    return options.skipVerification ? { ...plan, trust: 'kubelet-unverified' } : plan
  }

  async #stream({ request: { info }, query }: WorkerRequest, context: RequestContext): Promise<ConnectPlan> {
    const pod = await this.#pod(context, info.name)
    const container = containerOf(pod, query.get('container') ?? '')
    const kubelet = await this.#kubelet(context, nodeOf(pod, info.name))
    const path = `/${info.subresource}/${info.namespace}/${pod.metadata?.name ?? ''}/${container}`
    return toKubelet('upgrade', kubelet, path, streamQuery(query, info.subresource))
  }

  async #proxy({ request: { info } }: WorkerRequest, context: RequestContext): Promise<ConnectPlan> {
    const what = info.resource.slice(0, -1)
    const target = splitSchemeNamePort(info.name)
    if (target === undefined) throw newBadRequest(`invalid ${what} request ${JSON.stringify(info.name)}`)
    const { name, port } = target
    const scheme = target.scheme === '' ? 'http' : target.scheme
    const workload = { kind: 'proxy', scheme, path: '', trust: 'workload', extendedWebSockets: false } as const
    if (info.resource === 'nodes') return this.#nodeProxy(context, name, port, scheme)
    if (info.resource === 'services') {
      const found = await serviceAddress({
        endpoints: this.#endpoints,
        context,
        name,
        port,
        id: info.name,
        random: this.#random,
      })
      return { ...workload, ...found }
    }
    const pod = await this.#pod(context, name)
    const host = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? ''
    if (!this.#mayReach(host)) throw newBadRequest('address not allowed')
    const first = (pod.spec?.containers ?? []).find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort
    return { ...workload, host, port: portNumber(port === '' ? String(first ?? 0) : port) }
  }

  async #nodeProxy(
    context: RequestContext,
    name: string,
    port: string,
    scheme: 'http' | 'https',
  ): Promise<ConnectPlan> {
    const kubelet = await this.#kubelet(context, name)
    const addresses = await addressesOf(kubelet.host)
    if (!addresses.every(this.#mayReach)) throw newBadRequest('address not allowed')
    if (port === '' || port === String(kubelet.port)) return toKubelet('proxy', kubelet, '', '')
    const { host } = kubelet
    return {
      kind: 'proxy',
      scheme,
      host,
      port: portNumber(port),
      path: '',
      trust: 'workload',
      extendedWebSockets: false,
    }
  }

  #pod(context: RequestContext, name: string): Promise<Pod> {
    const { store } = this.#endpoints.find({ apiGroup: '', apiVersion: 'v1', resource: 'pods', subresource: '' })
    return store.get(context, name)
  }

  async #kubelet(context: RequestContext, nodeName: string): Promise<Kubelet> {
    const { store } = this.#endpoints.find({ apiGroup: '', apiVersion: 'v1', resource: 'nodes', subresource: '' })
    const node: Node = await this.#node(store, context, nodeName)
    const { addresses = [], daemonEndpoints, declaredFeatures = [] } = node.status ?? {}
    const preferred = this.#config.preferredAddressTypes
      .map((type) => addresses.find((address) => address.type === type))
      .find((address) => address !== undefined)
    if (preferred?.address === undefined) {
      const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')
      throw newUnknown(`no preferred addresses found; known addresses: [${known}]`)
    }
    const port = daemonEndpoints?.kubeletEndpoint?.Port ?? 0
    return {
      host: preferred.address,
      port: port > 0 ? port : this.#config.kubeletPort,
      extendedWebSockets: declaredFeatures.includes(EXTENDED_WEB_SOCKETS),
    }
  }

  /** A node that is missing is said to be what the request is for, as in Kubernetes: pods "n1" not found. */
  async #node(
    store: ReturnType<EndpointSource['find']>['store'],
    context: RequestContext,
    name: string,
  ): Promise<Node> {
    try {
      return await store.get({ ...context, namespace: '' }, name)
    } catch (error) {
      if (error instanceof StatusError && error.code === 404)
        throw newNotFound({ group: context.apiGroup, resource: context.resource }, name)
      throw error
    }
  }
}

function toKubelet(kind: ConnectPlan['kind'], kubelet: Kubelet, path: string, query: string): ConnectPlan {
  return { kind, scheme: 'https', trust: 'kubelet', path: query === '' ? path : `${path}?${query}`, ...kubelet }
}

function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw newServiceUnavailable(`error trying to reach service: ${JSON.stringify(text)} is no port`)
  return port
}

/** A name is resolved: what it stands for must be allowed too. */
async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    throw newBadRequest(error instanceof Error ? error.message : String(error))
  }
}

function nodeOf(pod: Pod, name: string): string {
  const nodeName = pod.spec?.nodeName ?? ''
  if (nodeName === '') throw newBadRequest(`pod ${name} does not have a host assigned`)
  return nodeName
}

/** The one that is asked for, or the only one there is. */
function containerOf(pod: Pod, asked: string): string {
  const { name = '' } = pod.metadata ?? {}
  const names = allContainers(pod.spec ?? {}).map(({ container }) => container.name ?? '')
  if (asked !== '') {
    if (!names.includes(asked)) throw newBadRequest(`container ${asked} is not valid for pod ${name}`)
    return asked
  }
  const own = pod.spec?.containers ?? []
  if (own.length === 1) return own[0]!.name ?? ''
  const choice = own.length === 0 ? '' : `, choose one of: [${names.join(' ')}]`
  throw newBadRequest(`a container name must be specified for pod ${name}${choice}`)
}
