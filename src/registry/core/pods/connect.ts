/** Thread: pool. Where a request to a pod goes that is passed on: to the kubelet of its node, or to the pod itself. */
import type { Pod } from '../../../api/generated/kinds/core.v1.js'
import { newBadRequest } from '../../../api/status.js'
import type { ConnectDependencies, Connecter } from '../../generic/connecter.js'
import { portNumber, proxyTarget, workloadPlan } from '../../generic/proxy-target.js'
import type { RequestContext } from '../../generic/strategy.js'
import { kubeletOf, toKubelet } from '../nodes/kubelet.js'
import { allContainers } from '../pod-template/pod-spec.js'
import { logOptions, portForwardQuery, streamQuery } from './stream-options.js'

function podOf(name: string, context: RequestContext, { endpoints }: ConnectDependencies): Promise<Pod> {
  const { store } = endpoints.find({ apiGroup: '', apiVersion: 'v1', resource: 'pods', subresource: '' })
  return store.get(context, name)
}

export const logConnecter: Connecter = {
  admission: 'none',
  connect: async ({ info, query, context }, dependencies) => {
    const options = logOptions(query, info.name)
    const pod = await podOf(info.name, context, dependencies)
    const container = containerOf(pod, options.container)
    const nodeName = pod.spec?.nodeName ?? ''
    if (nodeName === '') return undefined
    const kubelet = await kubeletOf(nodeName, context, dependencies)
    const path = `/containerLogs/${info.namespace}/${pod.metadata?.name ?? ''}/${container}`
    const plan = toKubelet('log', kubelet, path, options.query)
    return options.skipVerification ? { ...plan, trust: 'kubelet-unverified' } : plan
  },
}

const streamConnecter = (subresource: 'exec' | 'attach'): Connecter => ({
  connect: async ({ info, query, context }, dependencies) => {
    const pod = await podOf(info.name, context, dependencies)
    const container = containerOf(pod, query.get('container') ?? '')
    const kubelet = await kubeletOf(nodeNameOf(pod, info.name), context, dependencies)
    const path = `/${subresource}/${info.namespace}/${pod.metadata?.name ?? ''}/${container}`
    return toKubelet('upgrade', kubelet, path, streamQuery(query, subresource))
  },
})

export const execConnecter = streamConnecter('exec')
export const attachConnecter = streamConnecter('attach')

export const portForwardConnecter: Connecter = {
  connect: async ({ info, query, context }, dependencies) => {
    const pod = await podOf(info.name, context, dependencies)
    const kubelet = await kubeletOf(nodeNameOf(pod, info.name), context, dependencies)
    const path = `/portForward/${info.namespace}/${pod.metadata?.name ?? ''}`
    return toKubelet('upgrade', kubelet, path, portForwardQuery(query))
  },
}

export const podProxyConnecter: Connecter = {
  connect: async ({ info, context }, dependencies) => {
    const { scheme, name, port } = proxyTarget(info.name, 'pod')
    const pod = await podOf(name, context, dependencies)
    const host = pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? ''
    if (!dependencies.mayReach(host)) throw newBadRequest('address not allowed')
    const first = (pod.spec?.containers ?? []).find(({ ports = [] }) => ports.length > 0)?.ports?.[0]?.containerPort
    return workloadPlan(scheme, host, portNumber(port === '' ? String(first ?? 0) : port))
  },
}

function nodeNameOf(pod: Pod, name: string): string {
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
