/** Thread: pool. What requests to services do beyond their rules: they take addresses and ports, and are proxied. */
import type { Connecter } from '../../generic/connecter.js'
import { proxyTarget, workloadPlan } from '../../generic/proxy-target.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import { serviceAddress } from './service-address.js'

const proxy: Connecter = {
  connect: async ({ info, context }, { endpoints, random }) => {
    const { scheme, name, port } = proxyTarget(info.name, 'service')
    const found = await serviceAddress({ endpoints, context, name, port, id: info.name, random })
    return workloadPlan(scheme, found.host, found.port)
  },
}

export const serviceREST: ResourceREST = { hooks: ({ serviceHooks }) => serviceHooks(), connecters: { proxy } }
