/** Thread: any. Cluster trust bundles are not in the preferred version of their group. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const clusterTrustBundleFacts: ResourceFacts = { storage: { version: 'v1beta1' } }
