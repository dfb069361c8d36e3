/** Thread: pool. What writes of policy bindings do beyond their rules: nobody names parameters that they may not read. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { bindingParamHooks } from '../param-access-hooks.js'

export const policyBindingREST: ResourceREST = { hooks: bindingParamHooks }
