/**
 * Thread: any. The flow schemas and priority levels of Kubernetes v1.36 in compact form. Two of each are mandatory and never
 * differ from this; the others are suggested, and a user who changes one keeps the change.
 */
import { lookupTable } from '../../lib/lookup-table.js'
import {
  AUTO_UPDATE_ANNOTATION,
  type FlowSchema,
  type PolicyRules,
  type PriorityLevelConfiguration,
  type ResourcePolicyRule,
  type Subject,
} from './configuration.js'

export const EXEMPT = 'exempt'
export const CATCH_ALL = 'catch-all'

/** Shares, lendable percent, queues and hand size of each level; each queue holds 50 requests. */
const LIMITED_LEVELS: Readonly<Record<string, readonly [number, number, number, number]>> = lookupTable({
  system: [30, 33, 64, 6],
  'node-high': [40, 25, 64, 6],
  'leader-election': [10, 0, 16, 4],
  'workload-high': [40, 50, 128, 6],
  'workload-low': [100, 90, 128, 6],
  'global-default': [20, 50, 128, 6],
})
const QUEUE_LENGTH_LIMIT = 50

const annotated = (name: string): { name: string; annotations: Record<string, string> } => ({
  name,
  annotations: { [AUTO_UPDATE_ANNOTATION]: 'true' },
})

const group = (name: string): Subject => ({ kind: 'Group', group: { name } })
const user = (name: string): Subject => ({ kind: 'User', user: { name } })
const EVERYBODY = [group('system:unauthenticated'), group('system:authenticated')]
const NODES = [group('system:nodes')]
const KUBE_SYSTEM: Subject = {
  kind: 'ServiceAccount',
  serviceAccount: { name: '*', namespace: 'kube-system' },
}

const resources = (
  verbs: readonly string[],
  apiGroup: string,
  names: readonly string[],
  clusterScope: boolean,
): ResourcePolicyRule => ({
  verbs,
  apiGroups: [apiGroup],
  resources: names,
  ...(clusterScope ? { clusterScope } : {}),
  namespaces: ['*'],
})

/** A rule for everything that these subjects ask for. */
const all = (...subjects: readonly Subject[]): PolicyRules => ({
  subjects,
  resourceRules: [resources(['*'], '*', ['*'], true)],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
})

function schema(name: string, level: string, precedence: number, method: string, rules: PolicyRules): FlowSchema {
  return {
    metadata: annotated(name),
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence: precedence,
      ...(method === '' ? {} : { distinguisherMethod: { type: method } }),
      rules: [rules],
    },
  }
}

export function mandatoryPriorityLevels(): PriorityLevelConfiguration[] {
  return [
    {
      metadata: annotated(CATCH_ALL),
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
      },
    },
    {
      metadata: annotated(EXEMPT),
      spec: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
    },
  ]
}

export function suggestedPriorityLevels(): PriorityLevelConfiguration[] {
  return Object.entries(LIMITED_LEVELS).map(([name, [shares, lendablePercent, queues, handSize]]) => ({
    metadata: annotated(name),
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: shares,
        lendablePercent,
        limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: QUEUE_LENGTH_LIMIT } },
      },
    },
  }))
}

export function mandatoryFlowSchemas(): FlowSchema[] {
  return [
    schema(EXEMPT, EXEMPT, 1, '', all(group('system:masters'))),
    schema(CATCH_ALL, CATCH_ALL, 10_000, 'ByUser', all(...EVERYBODY)),
  ]
}

export function suggestedFlowSchemas(): FlowSchema[] {
  const leases = (verbs: readonly string[]): ResourcePolicyRule =>
    resources(verbs, 'coordination.k8s.io', ['leases'], false)
  return [
    schema('system-nodes', 'system', 500, 'ByUser', all(...NODES)),
    schema('system-node-high', 'node-high', 400, 'ByUser', {
      subjects: NODES,
      resourceRules: [resources(['*'], '', ['nodes', 'nodes/status'], true), leases(['*'])],
    }),
    schema('probes', EXEMPT, 2, '', {
      subjects: EVERYBODY,
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
    }),
    schema('system-leader-election', 'leader-election', 100, 'ByUser', {
      subjects: [user('system:kube-controller-manager'), user('system:kube-scheduler'), KUBE_SYSTEM],
      resourceRules: [leases(['get', 'create', 'update'])],
    }),
    schema('kube-controller-manager', 'workload-high', 800, 'ByNamespace', all(user('system:kube-controller-manager'))),
    schema('kube-scheduler', 'workload-high', 800, 'ByNamespace', all(user('system:kube-scheduler'))),
    schema('kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', all(KUBE_SYSTEM)),
    schema('service-accounts', 'workload-low', 9000, 'ByUser', all(group('system:serviceaccounts'))),
    schema('global-default', 'global-default', 9900, 'ByUser', all(...EVERYBODY)),
  ]
}
