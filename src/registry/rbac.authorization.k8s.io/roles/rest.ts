/** Thread: pool. What requests to roles and cluster roles do beyond their rules: nobody writes what they do not hold. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { roleEscalationHooks } from '../escalation-hooks.js'

export const roleREST: ResourceREST = { hooks: roleEscalationHooks }
