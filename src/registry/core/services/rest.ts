/** Thread: pool. What requests to services do beyond their rules: addresses and ports are taken and given back. */
import type { ResourceREST } from '../../generic/resource-rest.js'

export const serviceREST: ResourceREST = { hooks: ({ serviceHooks }) => serviceHooks() }
