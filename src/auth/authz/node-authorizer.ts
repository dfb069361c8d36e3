/**
 * Thread: any but the owner. What a node (a kubelet) may do: read what its pods need, write about itself and its pods. What
 * depends on the content of an object that it writes is the NodeRestriction admission plugin's to check.
 */
import { parseFieldSelector } from '../../api/fields.js'
import { SelectorError } from '../../api/labels.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Attributes, Authorizer, RuleResolver, RuleSet, Verdict } from '../interface.js'
import { CLUSTER_ROLES } from './bootstrap/cluster-roles.js'
import { parseRoles } from './bootstrap/policy-text.js'
import type { NodeGraph } from './node-graph.js'
import { policyRulesOf, RoleRules } from './policy-rule.js'
import { questionOf } from './rbac-authorizer.js'

const USER_PREFIX = 'system:node:'
const NODES_GROUP = 'system:nodes'
const LEASE_NAMESPACE = 'kube-node-lease'

const ALLOW: Verdict = { decision: 'allow', reason: '' }
const PASS: Verdict = { decision: 'no-opinion', reason: '' }
const no = (reason: string): Verdict => ({ decision: 'no-opinion', reason })

/** The node that the user is; undefined for everybody else. */
function nodeOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(USER_PREFIX) && groups.includes(NODES_GROUP) ? name.slice(USER_PREFIX.length) : undefined
}

export class NodeAuthorizer implements Authorizer, RuleResolver {
  readonly #graph: NodeGraph
  readonly #rules: RoleRules

  constructor(graph: NodeGraph) {
    this.#graph = graph
    const role = parseRoles(CLUSTER_ROLES).find(({ metadata }) => metadata?.name === 'system:node')
    this.#rules = new RoleRules(policyRulesOf(role?.rules))
  }

  authorize(attributes: Attributes): Verdict {
    const node = nodeOf(attributes.user)
    if (node === undefined) return PASS
    if (node === '') return no(`unknown node for user ${JSON.stringify(attributes.user.name)}`)
    if (attributes.isResourceRequest) {
      const verdict = this.#authorizeResource(node, attributes)
      if (verdict !== undefined) return verdict
    }
    return this.#rules.allow(questionOf(attributes)) ? ALLOW : PASS
  }

  rulesFor(user: UserInfo): RuleSet {
    const isNode = nodeOf(user) !== undefined
    return {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: isNode,
      error: isNode ? 'node authorizer does not support user rule resolution' : '',
    }
  }

  /** The verdict on a resource that depends on the node; undefined when access is the same for all nodes. */
  #authorizeResource(node: string, attributes: Attributes): Verdict | undefined {
    const { apiGroup, resource, subresource } = attributes
    switch (apiGroup === '' ? resource : `${resource}.${apiGroup}`) {
      case 'secrets':
        return this.#read(node, 'secret', attributes)
      case 'configmaps':
        return this.#read(node, 'configmap', attributes)
      case 'persistentvolumeclaims':
        return subresource === 'status'
          ? this.#updateStatus(node, 'persistentvolumeclaim', attributes)
          : this.#get(node, 'persistentvolumeclaim', attributes)
      case 'persistentvolumes':
        return this.#get(node, 'persistentvolume', attributes)
      case 'resourceclaims.resource.k8s.io':
        return this.#get(node, 'resourceclaim', attributes)
      case 'volumeattachments.storage.k8s.io':
        return this.#get(node, 'volumeattachment', attributes)
      case 'serviceaccounts':
        return this.#serviceAccount(node, attributes)
      case 'leases.coordination.k8s.io':
        return lease(node, attributes)
      case 'csinodes.storage.k8s.io':
        return csiNode(node, attributes)
      case 'resourceslices.resource.k8s.io':
        return this.#slice(node, attributes)
      case 'nodes':
        return ownNode(node, attributes)
      case 'pods':
        return this.#pod(node, attributes)
      default:
        return undefined
    }
  }

  #get(node: string, kind: string, attributes: Attributes): Verdict {
    if (attributes.verb !== 'get') return no('can only get individual resources of this type')
    if (attributes.subresource !== '') return no('cannot get subresource')
    return this.#related(node, kind, attributes)
  }

  /** A list or watch of one object, by a field selector for its name, is a read of it. */
  #read(node: string, kind: string, attributes: Attributes): Verdict {
    if (!['get', 'list', 'watch'].includes(attributes.verb)) return no('can only read resources of this type')
    if (attributes.subresource !== '') return no('cannot read subresource')
    if (attributes.namespace === '') return no('can only read namespaced object of this type')
    return this.#related(node, kind, attributes)
  }

  #updateStatus(node: string, kind: string, attributes: Attributes): Verdict {
    if (attributes.verb !== 'update' && attributes.verb !== 'patch') return no('can only update or patch the status')
    return this.#related(node, kind, attributes)
  }

  #related(node: string, kind: string, { namespace, name }: Attributes): Verdict {
    if (name === '') return no('No Object name found')
    if (this.#graph.sync() && this.#graph.belongs(node, kind, namespace, name)) return ALLOW
    return no(`no relationship found between node '${node}' and this object`)
  }

  #serviceAccount(node: string, attributes: Attributes): Verdict {
    const { verb, subresource, name } = attributes
    if (verb === 'get' && subresource === '') return this.#read(node, 'serviceaccount', attributes)
    if (verb !== 'create' || name === '') return no('can only create tokens for individual service accounts')
    if (subresource !== 'token') return no('can only create token subresource of serviceaccount')
    return this.#related(node, 'serviceaccount', attributes)
  }

  #slice(node: string, attributes: Attributes): Verdict {
    const { verb, subresource } = attributes
    if (subresource !== '') return no('cannot authorize ResourceSlice subresources')
    if (verb === 'create') return ALLOW
    if (['get', 'update', 'patch', 'delete'].includes(verb)) return this.#related(node, 'resourceslice', attributes)
    if (!['list', 'watch', 'deletecollection'].includes(verb)) return no('this verb is not for ResourceSlices')
    return selects(attributes, 'spec.nodeName', node)
      ? ALLOW
      : no('can only list/watch/deletecollection resourceslices with nodeName field selector')
  }

  #pod(node: string, attributes: Attributes): Verdict {
    const { verb, subresource, name } = attributes
    if (subresource === 'status') return verb === 'update' || verb === 'patch' ? ALLOW : PASS
    if (subresource === 'eviction') return verb === 'create' ? ALLOW : PASS
    if (subresource !== '') return PASS
    if (verb === 'get') return this.#get(node, 'pod', attributes)
    if (verb === 'create' || verb === 'delete') return ALLOW
    if (verb !== 'list' && verb !== 'watch') return PASS
    if (selects(attributes, 'spec.nodeName', node)) return ALLOW
    if (name !== '') return this.#related(node, 'pod', attributes)
    return no('can only list/watch pods with spec.nodeName field selector')
  }
}

/** Whether the request is for nothing but objects whose field has this value. */
function selects({ fieldSelector = '' }: Attributes, field: string, value: string): boolean {
  try {
    return parseFieldSelector(fieldSelector).requirements.some(
      (one) => one.field === field && one.operator === '=' && one.value === value,
    )
  } catch (error) {
    // A selector that cannot be read limits nothing; the request itself will fail for it.
    if (error instanceof SelectorError) return false
    throw error
  }
}

const OWN_VERBS: readonly string[] = ['get', 'create', 'update', 'patch', 'delete']

/** A create does not say the name of its lease: NodeRestriction looks at the object. */
function lease(node: string, { verb, namespace, name }: Attributes): Verdict {
  if (!OWN_VERBS.includes(verb)) return no('can only get, create, update, patch, or delete a node lease')
  if (namespace !== LEASE_NAMESPACE) return no(`can only access leases in the "${LEASE_NAMESPACE}" system namespace`)
  if (verb !== 'create' && name !== node)
    return no('can only access node lease with the same name as the requesting node')
  return ALLOW
}

function csiNode(node: string, { verb, subresource, name }: Attributes): Verdict {
  if (subresource !== '') return no('cannot authorize CSINode subresources')
  if (!OWN_VERBS.includes(verb)) return no('can only get, create, update, patch, or delete a CSINode')
  if (verb !== 'create' && name !== node) return no('can only access CSINode with the same name as the requesting node')
  return ALLOW
}

function ownNode(node: string, { verb, subresource, name }: Attributes): Verdict {
  if (subresource === 'status') return verb === 'update' || verb === 'patch' ? ALLOW : PASS
  if (subresource !== '') return PASS
  if (['create', 'update', 'patch'].includes(verb)) return ALLOW
  if (!['get', 'list', 'watch'].includes(verb)) return PASS
  if (name === node) return ALLOW
  return no(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  )
}
