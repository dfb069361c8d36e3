/**
 * Thread: any. Where kube-apiserver v1.36 stores what: the exceptions to "under its plural name, in the group's preferred
 * version, as protobuf". Kubernetes' history, so the order of each list means something.
 */
import type { GroupResource, GroupVersionResource } from '../../api/group-version.js'
import type { MediaType } from './storage-config.js'

export const DEFAULT_MEDIA_TYPE: MediaType = 'application/vnd.kubernetes.protobuf'
export const EMBEDDED_MEDIA_TYPE: MediaType = 'application/vnd.kubernetes.protobuf'

/** Names from before 1.0 and before networking.k8s.io; what was a server of its own keeps its group in the path. */
export const SPECIAL_RESOURCE_PREFIXES: readonly (GroupResource & { readonly prefix: string })[] = [
  { group: '', resource: 'replicationcontrollers', prefix: 'controllers' },
  { group: '', resource: 'endpoints', prefix: 'services/endpoints' },
  { group: '', resource: 'nodes', prefix: 'minions' },
  { group: '', resource: 'services', prefix: 'services/specs' },
  { group: 'extensions', resource: 'ingresses', prefix: 'ingress' },
  { group: 'networking.k8s.io', resource: 'ingresses', prefix: 'ingress' },
  {
    group: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
    prefix: 'apiextensions.k8s.io/customresourcedefinitions',
  },
  { group: 'apiregistration.k8s.io', resource: 'apiservices', prefix: 'apiregistration.k8s.io/apiservices' },
]

/** One set of objects under several groups. The first group that is enabled says where and how they are stored. */
export const COHABITATING_RESOURCES: readonly (readonly GroupResource[])[] = [
  ...(
    [
      ['networking.k8s.io', 'networkpolicies'],
      ['apps', 'deployments'],
      ['apps', 'daemonsets'],
      ['apps', 'replicasets'],
      ['', 'replicationcontrollers'],
      ['policy', 'podsecuritypolicies'],
      ['networking.k8s.io', 'ingresses'],
    ] as const
  ).map(([group, resource]) => [
    { group, resource },
    { group: 'extensions', resource },
  ]),
  [
    { group: '', resource: 'events' },
    { group: 'events.k8s.io', resource: 'events' },
  ],
]

/**
 * Not the preferred version of the group: kinds that it lacks, and kinds whose newest version a server one release older
 * could not read. Custom resource definitions are smaller as v1beta1, which has saved those near etcd's limit.
 */
export const STORAGE_VERSION_OVERRIDES: readonly GroupVersionResource[] = [
  { group: 'admissionregistration.k8s.io', version: 'v1beta1', resource: 'mutatingadmissionpolicies' },
  { group: 'admissionregistration.k8s.io', version: 'v1beta1', resource: 'mutatingadmissionpolicybindings' },
  { group: 'apiextensions.k8s.io', version: 'v1beta1', resource: 'customresourcedefinitions' },
  { group: 'certificates.k8s.io', version: 'v1beta1', resource: 'clustertrustbundles' },
  { group: 'certificates.k8s.io', version: 'v1beta1', resource: 'podcertificaterequests' },
  { group: 'coordination.k8s.io', version: 'v1beta1', resource: 'leasecandidates' },
  { group: 'resource.k8s.io', version: 'v1alpha3', resource: 'devicetaintrules' },
  { group: 'resource.k8s.io', version: 'v1alpha3', resource: 'resourcepoolstatusrequests' },
  { group: 'scheduling.k8s.io', version: 'v1alpha2', resource: 'podgroups' },
  { group: 'scheduling.k8s.io', version: 'v1alpha2', resource: 'workloads' },
]

/** Always JSON, whatever --storage-media-type says. */
export const JSON_RESOURCES: readonly GroupResource[] = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { group: 'apiregistration.k8s.io', resource: 'apiservices' },
]
