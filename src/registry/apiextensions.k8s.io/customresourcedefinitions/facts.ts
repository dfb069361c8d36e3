/** Thread: any. Custom resource definitions are smaller as v1beta1, which has saved those near the limit of etcd. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const customResourceDefinitionFacts: ResourceFacts = {
  // Every thread finds the schemas of custom resources in memory.
  alwaysCached: true,
  storage: {
    prefix: 'apiextensions.k8s.io/customresourcedefinitions',
    version: 'v1beta1',
    mediaType: 'application/json',
  },
}
