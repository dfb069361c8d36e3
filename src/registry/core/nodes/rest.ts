/** Thread: pool. What requests to nodes do beyond their rules: they are passed on to the kubelet, or to another port. */
import { lookup } from 'node:dns/promises'
import { newBadRequest } from '../../../api/status.js'
import type { Connecter } from '../../generic/connecter.js'
import { portNumber, proxyTarget, workloadPlan } from '../../generic/proxy-target.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import { kubeletOf, toKubelet } from './kubelet.js'

const proxy: Connecter = {
  connect: async ({ info, context }, dependencies) => {
    const { scheme, name, port } = proxyTarget(info.name, 'node')
    const kubelet = await kubeletOf(name, context, dependencies)
    const addresses = await addressesOf(kubelet.host)
    if (!addresses.every(dependencies.mayReach)) throw newBadRequest('address not allowed')
    if (port === '' || port === String(kubelet.port)) return toKubelet('proxy', kubelet, '', '')
    return workloadPlan(scheme, kubelet.host, portNumber(port))
  },
}

/** A name is resolved: what it stands for must be allowed too. */
async function addressesOf(host: string): Promise<string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address)
  } catch (error) {
    throw newBadRequest(error instanceof Error ? error.message : String(error))
  }
}

export const nodeREST: ResourceREST = { connecters: { proxy } }
