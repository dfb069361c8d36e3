/**
 * Thread: any. The order of groups, and of versions in a group, in documents of discovery: what clients try first. The numbers of
 * built-in groups are kube-apiserver's, because APIServices of other servers are written with them in mind.
 */
import { formatGroupVersion } from '../api/group-version.js'

export interface Priority {
  readonly group: number
  readonly version: number
}

/** Rows are the priority of a group, its name, and the priorities of its versions. */
const BUILTIN: readonly (readonly [number, string, Readonly<Record<string, number>>])[] = [
  [18000, '', { v1: 1 }],
  [17800, 'apps', { v1: 15 }],
  [17750, 'events.k8s.io', { v1: 15, v1beta1: 5 }],
  [17700, 'authentication.k8s.io', { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [17600, 'authorization.k8s.io', { v1: 15 }],
  [17500, 'autoscaling', { v2: 30, v1: 15, v2beta1: 9, v2beta2: 1 }],
  [17400, 'batch', { v1: 15, v1beta1: 9 }],
  [17300, 'certificates.k8s.io', { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [17200, 'networking.k8s.io', { v1: 15, v1beta1: 9 }],
  [17100, 'policy', { v1: 15, v1beta1: 9 }],
  [17000, 'rbac.authorization.k8s.io', { v1: 15 }],
  [16800, 'storage.k8s.io', { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [16700, 'apiextensions.k8s.io', { v1: 15 }],
  [16700, 'admissionregistration.k8s.io', { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  [16600, 'scheduling.k8s.io', { v1: 15, v1beta1: 9, v1alpha3: 3 }],
  [16500, 'coordination.k8s.io', { v1: 15, v1beta1: 13, v1alpha2: 12 }],
  [16300, 'node.k8s.io', { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [16200, 'discovery.k8s.io', { v1: 15, v1beta1: 12 }],
  [16200, 'resource.k8s.io', { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  [16100, 'flowcontrol.apiserver.k8s.io', { v1: 21, v1beta3: 18, v1beta2: 15, v1beta1: 12, v1alpha1: 9 }],
  [16000, 'internal.apiserver.k8s.io', { v1alpha1: 9 }],
  [15800, 'storagemigration.k8s.io', { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [15700, 'lifecycle.k8s.io', { v1alpha1: 1 }],
]

const PRIORITIES: ReadonlyMap<string, Priority> = new Map(
  BUILTIN.flatMap(([group, name, versions]) =>
    Object.entries(versions).map(([version, priority]) => [
      formatGroupVersion({ group: name, version }),
      { group, version: priority },
    ]),
  ),
)

/** Custom resources come after what is built in; their versions are ordered by name. */
export const CUSTOM_PRIORITY: Priority = { group: 1000, version: 100 }

/** Undefined for a version that no APIService is made for: that of APIServices themselves, and custom ones. */
export const builtinPriority = (group: string, version: string): Priority | undefined =>
  PRIORITIES.get(formatGroupVersion({ group, version }))
