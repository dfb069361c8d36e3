/** Thread: pool. A kubelet writes its own node, what runs on it, and nothing else. */

import type { TokenRequest } from '../../api/generated/kinds/authentication.v1.js'
import type { CertificateSigningRequest } from '../../api/generated/kinds/certificates.v1.js'
import type { Node, PersistentVolumeClaim, Pod } from '../../api/generated/kinds/core.v1.js'
import type { ResourceSlice } from '../../api/generated/kinds/resource.v1.js'
import { metadataOf } from '../../api/object.js'
import { newNotFound } from '../../api/status.js'
import type { UserInfo } from '../../api/user-info.js'
import type { AdmissionAttributes, AdmissionPlugin } from '../chain.js'
import { forbid } from '../forbid.js'
import { type AdmissionObjects, NODES, PODS } from '../objects.js'
import type { Permissions } from '../permissions.js'
import { requestSubject } from './certificate-request-subject.js'
import { forbiddenNodeLabels } from './node-labels.js'
import { firstReference } from './pod-references.js'
import { TokenAudience } from './token-audience.js'

const USER_PREFIX = 'system:node:'
const GROUP = 'system:nodes'
const MIRROR = 'kubernetes.io/config.mirror'
const LEASES_NAMESPACE = 'kube-node-lease'
const KUBELET_SIGNERS: ReadonlySet<string> = new Set([
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
])

/** The node that a user is; '' for a node without a name, undefined for everybody else. */
export function nodeOf({ name, groups }: UserInfo): string | undefined {
  if (!groups.includes(GROUP)) return undefined
  return name.startsWith(USER_PREFIX) ? name.slice(USER_PREFIX.length) : undefined
}

type Rule = (plugin: NodeRestriction, attributes: AdmissionAttributes, node: string) => Promise<void> | void

export class NodeRestriction implements AdmissionPlugin {
  readonly name = 'NodeRestriction'
  readonly objects: AdmissionObjects
  readonly tokenAudience: TokenAudience

  constructor(objects: AdmissionObjects, permissions: Permissions) {
    this.objects = objects
    this.tokenAudience = new TokenAudience(objects, permissions)
  }

  handles({ operation, resource }: AdmissionAttributes): boolean {
    return operation !== 'CONNECT' && RULES.has(`${resource.group}/${resource.resource}`)
  }

  admit(attributes: AdmissionAttributes): Promise<void> | void {
    const node = nodeOf(attributes.user)
    if (node === undefined) return
    if (node === '')
      throw forbid(attributes, `could not determine node from user ${JSON.stringify(attributes.user.name)}`)
    const { group, resource } = attributes.resource
    return RULES.get(`${group}/${resource}`)!(this, attributes, node)
  }

  async podOf(namespace: string, name: string): Promise<Pod> {
    const pod = (await this.objects.get(PODS, namespace, name)) ?? (await this.objects.getLive(PODS, namespace, name))
    if (pod === undefined) throw newNotFound(PODS, name)
    return pod
  }
}

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['/pods', admitPods],
  ['/nodes', (_plugin, attributes, node) => admitNode(attributes, node)],
  ['/persistentvolumeclaims', (_plugin, attributes, node) => admitClaim(attributes, node)],
  ['/serviceaccounts', admitToken],
  ['coordination.k8s.io/leases', (_plugin, attributes, node) => admitLease(attributes, node)],
  ['storage.k8s.io/csinodes', (_plugin, attributes, node) => admitCSINode(attributes, node)],
  ['resource.k8s.io/resourceslices', (_plugin, attributes, node) => admitSlice(attributes, node)],
  ['certificates.k8s.io/certificatesigningrequests', (_plugin, attributes, node) => admitRequest(attributes, node)],
])

function admitPods(plugin: NodeRestriction, attributes: AdmissionAttributes, node: string): Promise<void> | void {
  const { operation, subresource } = attributes
  const unexpected = (): never => {
    throw forbid(attributes, `unexpected operation ${JSON.stringify(operation)}`)
  }
  switch (subresource) {
    case '':
      if (operation === 'CREATE') return admitMirrorPod(plugin, attributes, node)
      if (operation === 'DELETE') return ownPod(plugin, attributes, node, attributes.name, 'delete pods')
      throw forbid(
        attributes,
        `unexpected operation ${JSON.stringify(operation)}, node ${JSON.stringify(node)} can only create and delete mirror pods`,
      )
    case 'status':
      return operation === 'UPDATE' ? admitPodStatus(attributes, node) : unexpected()
    case 'eviction': {
      const name = attributes.name || (attributes.object?.metadata?.name ?? '')
      return operation === 'CREATE' ? ownPod(plugin, attributes, node, name, 'evict pods') : unexpected()
    }
    default:
      throw forbid(
        attributes,
        `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`,
      )
  }
}

async function ownPod(
  plugin: NodeRestriction,
  attributes: AdmissionAttributes,
  node: string,
  name: string,
  doing: string,
): Promise<void> {
  const pod = await plugin.podOf(attributes.namespace, name)
  if (pod.spec?.nodeName === node) return
  throw forbid(attributes, `node ${JSON.stringify(node)} can only ${doing} with spec.nodeName set to itself`)
}

async function admitMirrorPod(plugin: NodeRestriction, attributes: AdmissionAttributes, node: string): Promise<void> {
  const pod: Pod = attributes.object ?? {}
  const refuse = (why: string): never => {
    throw forbid(attributes, `node ${JSON.stringify(node)} ${why}`)
  }
  const { annotations = {}, ownerReferences = [] } = metadataOf(pod)
  if (annotations[MIRROR] === undefined) refuse('can only create mirror pods')
  if (pod.spec?.nodeName !== node) refuse('can only create pods with spec.nodeName set to itself')
  const [owner] = ownerReferences
  if (owner === undefined || ownerReferences.length > 1 || owner.apiVersion !== 'v1' || owner.kind !== 'Node')
    return refuse('can only create pods with an owner reference set to itself')
  if (owner.name !== node) refuse('can only create pods with an owner reference set to itself')
  if (owner.controller !== true) refuse('can only create pods with a controller owner reference set to itself')
  if (owner.blockOwnerDeletion === true) refuse('must not set blockOwnerDeletion on an owner reference')
  const found = await plugin.objects.get(NODES, '', node)
  if (found === undefined) throw newNotFound(NODES, node)
  if (found.metadata?.uid !== owner.uid) refuse(`has another uid: ${found.metadata?.uid}, not ${owner.uid}`)
  const reference = firstReference(pod.spec ?? {})
  if (reference !== undefined) refuse(`can not create pods that reference ${reference}`)
}

function admitPodStatus(attributes: AdmissionAttributes<Pod>, node: string): void {
  const { object: next = {}, oldObject: old = {} } = attributes
  const refuse = (why: string): never => {
    throw forbid(attributes, `node ${JSON.stringify(node)} ${why}`)
  }
  if (old.spec?.nodeName !== node) refuse('can only update pod status for pods with spec.nodeName set to itself')
  if (!sameJson(old.metadata?.labels ?? {}, next.metadata?.labels ?? {}))
    refuse('cannot update labels through pod status')
  for (const field of ['resourceClaimStatuses', 'extendedResourceClaimStatus'] as const) {
    if (!sameJson(old.status?.[field] ?? null, next.status?.[field] ?? null)) refuse(`cannot update ${field}`)
  }
}

function admitNode(attributes: AdmissionAttributes<Node>, node: string): void {
  const { name, operation, object, oldObject } = attributes
  const refuse = (why: string): never => {
    throw forbid(attributes, `node ${JSON.stringify(node)} is not allowed to ${why}`)
  }
  if (name !== node) refuse(`modify node ${JSON.stringify(name)}`)
  if (operation !== 'CREATE' && operation !== 'UPDATE') return
  const [spec, old] = [object?.spec ?? {}, oldObject?.spec ?? {}]
  if (spec.configSource !== undefined && !sameJson(spec.configSource, old.configSource ?? null))
    refuse('set configSource')
  if (operation === 'UPDATE') {
    if (!sameJson(spec.taints ?? [], old.taints ?? [])) refuse('modify taints')
    if (!sameJson(object?.metadata?.ownerReferences ?? [], oldObject?.metadata?.ownerReferences ?? []))
      refuse('modify ownerReferences')
  }
  const labels = forbiddenNodeLabels(object?.metadata?.labels ?? {}, oldObject?.metadata?.labels ?? {})
  if (labels.length > 0) refuse(`modify labels: ${labels.join(', ')}`)
}

/** A kubelet may write only what the growth of a volume changes: capacity and conditions of the claim's status. */
function admitClaim(attributes: AdmissionAttributes<PersistentVolumeClaim>, node: string): void {
  if (attributes.subresource !== 'status') throw forbid(attributes, 'may only update PVC status')
  if (attributes.operation !== 'UPDATE') throw forbid(attributes, `unexpected operation "${attributes.operation}"`)
  const rest = (claim: PersistentVolumeClaim | undefined): object => {
    const copy = structuredClone(claim ?? {})
    delete copy.metadata?.resourceVersion
    delete copy.metadata?.managedFields
    const { capacity, conditions, allocatedResources, allocatedResourceStatuses, ...status } = copy.status ?? {}
    return { ...copy, status }
  }
  if (sameJson(rest(attributes.oldObject), rest(attributes.object))) return
  throw forbid(
    attributes,
    `node ${JSON.stringify(node)} is not allowed to update fields other than status.quantity and status.conditions`,
  )
}

async function admitToken(
  plugin: NodeRestriction,
  attributes: AdmissionAttributes<TokenRequest>,
  node: string,
): Promise<void> {
  if (attributes.operation !== 'CREATE' || attributes.subresource !== 'token') return
  const { boundObjectRef: bound, audiences } = attributes.object?.spec ?? {}
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || (bound.name ?? '') === '')
    throw forbid(attributes, 'node requested token not bound to a pod')
  if ((bound.uid ?? '') === '') throw forbid(attributes, 'node requested token with a pod binding without a uid')
  const pod = await plugin.podOf(attributes.namespace, bound.name!)
  if (pod.metadata?.uid !== bound.uid)
    throw forbid(attributes, `the UID in the bound object reference (${bound.uid}) does not match the UID in record`)
  if (pod.spec?.nodeName !== node)
    throw forbid(attributes, 'node requested token bound to a pod scheduled on a different node')
  await plugin.tokenAudience.check(attributes, pod, audiences ?? [])
}

function admitLease(attributes: AdmissionAttributes, node: string): void {
  if (attributes.namespace !== LEASES_NAMESPACE)
    throw forbid(attributes, `can only access leases in the ${JSON.stringify(LEASES_NAMESPACE)} system namespace`)
  const name = attributes.name || (attributes.object?.metadata?.name ?? '')
  if (name !== node) throw forbid(attributes, 'can only access node lease with the same name as the requesting node')
}

function admitCSINode(attributes: AdmissionAttributes, node: string): void {
  const name = attributes.name || (attributes.object?.metadata?.name ?? '')
  if (name !== node) throw forbid(attributes, 'can only access CSINode with the same name as the requesting node')
}

function admitSlice(attributes: AdmissionAttributes<ResourceSlice>, node: string): void {
  // Whether a kubelet may read slices is the authorizer's to say; those that it changes or deletes must be its node's
  // own.
  const slice = attributes.operation === 'DELETE' ? attributes.oldObject : attributes.object
  if (slice?.spec?.nodeName === node) return
  throw forbid(
    attributes,
    'can only create, update or delete ResourceSlice with the same NodeName as the requesting node',
  )
}

function admitRequest(attributes: AdmissionAttributes<CertificateSigningRequest>, node: string): void {
  if (attributes.operation !== 'CREATE' || attributes.subresource !== '') return
  const { signerName = '', request } = attributes.object?.spec ?? {}
  if (!KUBELET_SIGNERS.has(signerName)) return
  const subject = requestSubject(request ?? '')
  if (subject === undefined) throw forbid(attributes, 'unable to parse csr')
  if (subject.commonNames.length === 1 && subject.commonNames[0] === `${USER_PREFIX}${node}`) return
  throw forbid(attributes, 'can only create a node CSR with CN=system:node:<own name>')
}

/** Compares two values as JSON, regardless of the order of fields. */
function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
}

function sorted(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return Object.fromEntries(entries.sort(([x], [y]) => (x < y ? -1 : 1)).map(([key, inner]) => [key, sorted(inner)]))
}
