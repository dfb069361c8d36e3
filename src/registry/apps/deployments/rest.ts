/** Thread: pool. What requests to deployments do beyond their rules: they can be scaled. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { scaleRow } from '../../generic/scale.js'

export const deploymentREST: ResourceREST = { subresources: { scale: scaleRow } }
