/** Thread: pool. What writes of policies do beyond their rules: nobody names parameters that they may not read. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { policyParamHooks } from '../param-access-hooks.js'

export const policyREST: ResourceREST = { hooks: policyParamHooks }
