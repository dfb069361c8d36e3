/** Thread: pool. What requests to replication controllers do beyond their rules: they can be scaled. */
import type { ResourceREST } from '../../generic/resource-rest.js'
import { labelsScaleRow } from '../../generic/scale.js'

export const replicationControllerREST: ResourceREST = { subresources: { scale: labelsScaleRow } }
