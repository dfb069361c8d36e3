/** Thread: pool. What services do around their writes: Kubernetes' REST storage of services. */

import type { Service, ServiceSpec } from '../../../api/generated/kinds/core.v1.js'
import { ipFamilyOf } from '../../../api/validation/addresses.js'
import type { RegistryStoreHooks } from '../../generic/registry-store-options.js'
import type { RequestContext } from '../../generic/strategy.js'
import { keepAllocatedValues, normalizeClusterIPs } from './allocated-values.js'
import { type ClusterFamilies, otherFamily } from './ip-families.js'
import { CLUSTER_IP_NONE, needsClusterIP } from './service.js'
import type { AllocationTarget, ServiceAllocators } from './service-allocators.js'

export function serviceHooks(allocators: ServiceAllocators, families: ClusterFamilies): RegistryStoreHooks<Service> {
  return {
    beginCreate: (object, context) => {
      const target = targetOf(object, context)
      normalizeClusterIPs(target.spec)
      return allocators.create(target)
    },
    beginUpdate: (object, old, context) => {
      const target = targetOf(object, context)
      const before = old.spec ?? {}
      defaultOnRead(before, families)
      keepAllocatedValues(target.spec, before)
      normalizeClusterIPs(target.spec, before)
      return allocators.update(target, before)
    },
    afterDelete: async (object, context) => {
      if (context.dryRun) return
      const { spec, parent } = targetOf(object, context)
      defaultOnRead(spec, families)
      await allocators.release(spec, parent)
    },
  }
}

function targetOf(service: Service, context: RequestContext): AllocationTarget {
  service.spec ??= {}
  const { name = '', namespace } = service.metadata ?? {}
  return {
    spec: service.spec,
    parent: { namespace: namespace || context.namespace, name },
    dryRun: context.dryRun,
  }
}

/** Services that were stored before there were families. */
function defaultOnRead(spec: ServiceSpec, { primary }: ClusterFamilies): void {
  normalizeClusterIPs(spec)
  if (!needsClusterIP(spec) || (spec.ipFamilies ?? []).length > 0) return
  if (spec.clusterIP === CLUSTER_IP_NONE) {
    const selects = Object.keys(spec.selector ?? {}).length > 0
    spec.ipFamilyPolicy = selects ? 'SingleStack' : 'RequireDualStack'
    spec.ipFamilies = selects ? [primary] : [primary, otherFamily(primary)]
    return
  }
  spec.ipFamilies = (spec.clusterIPs ?? []).map((ip) => ipFamilyOf(ip) ?? primary)
  if (spec.ipFamilies.length > 0)
    spec.ipFamilyPolicy = spec.ipFamilies.length === 1 ? 'SingleStack' : 'RequireDualStack'
}
