/** Thread: pool. What requests to bindings of roles do beyond their rules: nobody gives what they do not hold. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { bindingEscalationHooks } from '../escalation-hooks.js'

export const roleBindingREST: ResourceREST = { hooks: bindingEscalationHooks }
