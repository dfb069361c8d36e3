/** Thread: pool. What requests to pods do beyond their rules. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { podBindingRow } from './binding.js'
import { attachConnecter, execConnecter, logConnecter, podProxyConnecter, portForwardConnecter } from './connect.js'
import { evictionRow } from './eviction.js'

export const podREST: ResourceREST = {
  subresources: { binding: podBindingRow, eviction: evictionRow },
  connecters: {
    attach: attachConnecter,
    exec: execConnecter,
    log: logConnecter,
    portforward: portForwardConnecter,
    proxy: podProxyConnecter,
  },
}
