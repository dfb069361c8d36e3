/**
 * Thread: any. The shape of a pod as far as its rules look at it. Decoding has made sure of the types; lists and maps that
 * Go prints though they are nil may be null.
 */
import type { LabelSelectorObject } from '../../../api/label-selector-object.js'
import type { ObjectMeta } from '../../../api/object.js'
import type { ObjectFieldSelector, ResourceFieldSelector, ResourceList, Volume } from './volume-types.js'

export type List<T> = T[] | null
export type IntOrString = number | string

export interface ResourceClaim {
  name?: string
  request?: string
}

export interface ResourceRequirements {
  limits?: ResourceList
  requests?: ResourceList
  claims?: ResourceClaim[]
}

export interface KeySelector {
  name?: string
  key?: string
  optional?: boolean
}

export interface EnvVar {
  name?: string
  value?: string
  valueFrom?: {
    fieldRef?: ObjectFieldSelector
    resourceFieldRef?: ResourceFieldSelector
    configMapKeyRef?: KeySelector
    secretKeyRef?: KeySelector
    fileKeyRef?: { volumeName?: string; path?: string; key?: string; optional?: boolean }
  }
}

export interface EnvFromSource {
  prefix?: string
  configMapRef?: { name?: string }
  secretRef?: { name?: string }
}

export interface ContainerPort {
  name?: string
  containerPort?: number
  hostPort?: number
  hostIP?: string
  protocol?: string
}

export interface VolumeMount {
  name?: string
  mountPath?: string
  readOnly?: boolean
  recursiveReadOnly?: string
  subPath?: string
  subPathExpr?: string
  mountPropagation?: string
}

export interface HTTPGetAction {
  path?: string
  port?: IntOrString
  host?: string
  scheme?: string
  httpHeaders?: { name?: string; value?: string }[]
}

export interface Handler {
  exec?: { command?: string[] }
  httpGet?: HTTPGetAction
  tcpSocket?: { port?: IntOrString; host?: string }
  grpc?: { port?: number; service?: string }
  sleep?: { seconds?: number }
}

export interface Probe extends Handler {
  initialDelaySeconds?: number
  timeoutSeconds?: number
  periodSeconds?: number
  successThreshold?: number
  failureThreshold?: number
  terminationGracePeriodSeconds?: number
}

export interface Lifecycle {
  postStart?: Handler
  preStop?: Handler
  stopSignal?: string
}

export interface SecurityProfile {
  type?: string
  localhostProfile?: string
}

export interface WindowsOptions {
  gmsaCredentialSpecName?: string
  gmsaCredentialSpec?: string
  runAsUserName?: string
  hostProcess?: boolean
}

export interface SecurityContext {
  privileged?: boolean
  allowPrivilegeEscalation?: boolean
  readOnlyRootFilesystem?: boolean
  runAsNonRoot?: boolean
  runAsUser?: number
  runAsGroup?: number
  procMount?: string
  capabilities?: { add?: string[]; drop?: string[] }
  seccompProfile?: SecurityProfile
  appArmorProfile?: SecurityProfile
  windowsOptions?: WindowsOptions
  seLinuxOptions?: Record<string, string>
}

export interface PodSecurityContext {
  runAsUser?: number
  runAsGroup?: number
  runAsNonRoot?: boolean
  fsGroup?: number
  fsGroupChangePolicy?: string
  supplementalGroups?: number[]
  supplementalGroupsPolicy?: string
  seLinuxChangePolicy?: string
  sysctls?: { name?: string; value?: string }[]
  seccompProfile?: SecurityProfile
  appArmorProfile?: SecurityProfile
  windowsOptions?: WindowsOptions
  seLinuxOptions?: Record<string, string>
}

export interface ContainerRestartRule {
  action?: string
  exitCodes?: { operator?: string; values?: number[] }
}

export interface Container {
  name?: string
  image?: string
  command?: string[]
  args?: string[]
  ports?: ContainerPort[]
  envFrom?: EnvFromSource[]
  env?: EnvVar[]
  resources?: ResourceRequirements
  resizePolicy?: { resourceName?: string; restartPolicy?: string }[]
  restartPolicy?: string
  restartPolicyRules?: ContainerRestartRule[]
  volumeMounts?: VolumeMount[]
  volumeDevices?: { name?: string; devicePath?: string }[]
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
  lifecycle?: Lifecycle
  terminationMessagePath?: string
  terminationMessagePolicy?: string
  imagePullPolicy?: string
  securityContext?: SecurityContext
  targetContainerName?: string
}

export interface NodeSelectorRequirement {
  key?: string
  operator?: string
  values?: string[]
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[]
  matchFields?: NodeSelectorRequirement[]
}

export interface NodeAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: List<NodeSelectorTerm> }
  preferredDuringSchedulingIgnoredDuringExecution?: { weight?: number; preference?: NodeSelectorTerm }[]
}

export type MutableLabelSelector = {
  matchLabels?: Record<string, string>
  matchExpressions?: { key: string; operator: string; values?: string[] }[]
} & LabelSelectorObject

export interface PodAffinityTerm {
  labelSelector?: MutableLabelSelector
  namespaceSelector?: LabelSelectorObject
  namespaces?: string[]
  topologyKey?: string
  matchLabelKeys?: string[]
  mismatchLabelKeys?: string[]
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[]
  preferredDuringSchedulingIgnoredDuringExecution?: { weight?: number; podAffinityTerm?: PodAffinityTerm }[]
}

export interface Affinity {
  nodeAffinity?: NodeAffinity
  podAffinity?: PodAffinity
  podAntiAffinity?: PodAffinity
}

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number
}

export interface TopologySpreadConstraint {
  maxSkew?: number
  topologyKey?: string
  whenUnsatisfiable?: string
  labelSelector?: MutableLabelSelector
  minDomains?: number
  nodeAffinityPolicy?: string
  nodeTaintsPolicy?: string
  matchLabelKeys?: string[]
}

export interface PodResourceClaim {
  name?: string
  resourceClaimName?: string
  resourceClaimTemplateName?: string
}

export interface PodSpec {
  volumes?: Volume[]
  initContainers?: Container[]
  containers?: List<Container>
  ephemeralContainers?: Container[]
  restartPolicy?: string
  terminationGracePeriodSeconds?: number
  activeDeadlineSeconds?: number
  dnsPolicy?: string
  dnsConfig?: { nameservers?: string[]; searches?: string[]; options?: { name?: string; value?: string }[] }
  nodeSelector?: Record<string, string>
  serviceAccountName?: string
  serviceAccount?: string
  automountServiceAccountToken?: boolean
  nodeName?: string
  hostNetwork?: boolean
  hostPID?: boolean
  hostIPC?: boolean
  hostUsers?: boolean
  shareProcessNamespace?: boolean
  securityContext?: PodSecurityContext
  imagePullSecrets?: { name?: string }[]
  hostname?: string
  hostnameOverride?: string
  subdomain?: string
  setHostnameAsFQDN?: boolean
  affinity?: Affinity
  schedulerName?: string
  tolerations?: Toleration[]
  hostAliases?: { ip?: string; hostnames?: string[] }[]
  priorityClassName?: string
  priority?: number
  preemptionPolicy?: string
  runtimeClassName?: string
  enableServiceLinks?: boolean
  overhead?: ResourceList
  readinessGates?: { conditionType?: string }[]
  schedulingGates?: { name?: string }[]
  topologySpreadConstraints?: TopologySpreadConstraint[]
  os?: { name?: string }
  resourceClaims?: PodResourceClaim[]
  resources?: ResourceRequirements
}

export interface PodTemplateSpec {
  metadata?: ObjectMeta
  spec?: PodSpec
}

export type ContainerList = 'initContainers' | 'containers' | 'ephemeralContainers'
const LISTS: readonly ContainerList[] = ['initContainers', 'containers', 'ephemeralContainers']

/** Every container of a pod with where it stands. */
export function allContainers(spec: PodSpec): { list: ContainerList; index: number; container: Container }[] {
  return LISTS.flatMap((list) => (spec[list] ?? []).map((container, index) => ({ list, index, container })))
}
