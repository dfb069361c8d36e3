/** Thread: any. What is read of FlowSchema and PriorityLevelConfiguration objects, group flowcontrol.apiserver.k8s.io. */

export const AUTO_UPDATE_ANNOTATION = 'apf.kubernetes.io/autoupdate-spec'

export interface ConfigurationMetadata {
  readonly name: string
  readonly uid?: string
  readonly generation?: number
  readonly resourceVersion?: string
  readonly annotations?: Readonly<Record<string, string>>
}

export interface Subject {
  readonly kind: string
  readonly user?: { readonly name: string }
  readonly group?: { readonly name: string }
  readonly serviceAccount?: { readonly name: string; readonly namespace: string }
}

export interface ResourcePolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly clusterScope?: boolean
  readonly namespaces?: readonly string[]
}

export interface NonResourcePolicyRule {
  readonly verbs: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

export interface PolicyRules {
  readonly subjects: readonly Subject[]
  readonly resourceRules?: readonly ResourcePolicyRule[]
  readonly nonResourceRules?: readonly NonResourcePolicyRule[]
}

export interface FlowSchemaSpec {
  readonly priorityLevelConfiguration: { readonly name: string }
  readonly matchingPrecedence: number
  readonly distinguisherMethod?: { readonly type: string }
  readonly rules?: readonly PolicyRules[]
}

export interface FlowSchemaCondition {
  readonly type: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string | null
}

export interface FlowSchema {
  readonly metadata: ConfigurationMetadata
  readonly spec: FlowSchemaSpec
  readonly status?: { readonly conditions?: readonly FlowSchemaCondition[] }
}

export interface QueuingConfiguration {
  readonly queues: number
  readonly handSize: number
  readonly queueLengthLimit: number
}

export interface PriorityLevelSpec {
  readonly type: string
  readonly limited?: {
    readonly nominalConcurrencyShares?: number
    readonly lendablePercent?: number
    readonly borrowingLimitPercent?: number
    readonly limitResponse?: { readonly type: string; readonly queuing?: QueuingConfiguration }
  }
  readonly exempt?: { readonly nominalConcurrencyShares?: number; readonly lendablePercent?: number }
}

export interface PriorityLevelConfiguration {
  readonly metadata: ConfigurationMetadata
  readonly spec: PriorityLevelSpec
}
