/** Thread: pool. What requests to stateful sets do beyond their rules: they can be scaled. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { scaleRow } from '../../generic/scale.js'

export const statefulSetREST: ResourceREST = { subresources: { scale: scaleRow } }
