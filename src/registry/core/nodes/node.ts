/** Thread: any. The shape of a node as far as its rules look at it. */
import type { KubeObject } from '../../../api/object.js'
import type { List } from '../../../api/validation/checks.js'
import type { ResourceList } from '../../../api/validation/quantities.js'

export interface Taint {
  key?: string
  value?: string
  effect?: string
}

export interface Node extends KubeObject {
  spec?: {
    podCIDR?: string
    podCIDRs?: List<string>
    providerID?: string
    externalID?: string
    unschedulable?: boolean
    taints?: List<Taint>
    configSource?: object
  }
  status?: {
    capacity?: ResourceList
    allocatable?: ResourceList
    declaredFeatures?: List<string>
    addresses?: List<{ type?: string; address?: string }>
    conditions?: List<{ type?: string; status?: string }>
    config?: object
    nodeInfo?: { swap?: { capacity?: number } } & Record<string, unknown>
  }
}
