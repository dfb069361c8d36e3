/** Thread: pool. What requests to resource claims and their templates do beyond their rules: who may ask for which devices. */
import type { ResourceClaim, ResourceClaimTemplate } from '../../../api/generated/kinds/resource.v1.js'
import { readNamespace } from '../../core/namespaces/read-namespace.js'
import type { ResourceREST } from '../../generic/resource-rest.js'
import type { EndpointSource } from '../../generic/rest-dependencies.js'
import { adminAccessHooks, type NamespaceReader } from './admin-access-hooks.js'
import { claimStatusHooks } from './claim-status-hooks.js'

const namespaceReader =
  (endpoints: EndpointSource): NamespaceReader =>
  (name) =>
    readNamespace(endpoints, name)

export const resourceClaimREST: ResourceREST<ResourceClaim> = {
  hooks: ({ endpoints, authorizer }) => {
    const namespace = namespaceReader(endpoints)
    return {
      ...adminAccessHooks<ResourceClaim>({ kind: 'ResourceClaim', specOf: ({ spec }) => spec }, namespace),
      ...claimStatusHooks({ authorizer, namespace }),
    }
  },
}

export const resourceClaimTemplateREST: ResourceREST<ResourceClaimTemplate> = {
  hooks: ({ endpoints }) =>
    adminAccessHooks({ kind: 'ResourceClaimTemplate', specOf: ({ spec }) => spec?.spec }, namespaceReader(endpoints)),
}
