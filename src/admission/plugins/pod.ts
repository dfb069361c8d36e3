/** Thread: pool. The shape of a pod as far as admission looks at it, and where other kinds carry a pod's. */
import { type Amounts, addAmounts, raiseAmounts } from '../../api/amounts.js'
import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject, ObjectMeta } from '../../api/object.js'
import { parseQuantity } from '../../api/quantity.js'

export type ResourceList = Record<string, string>

export interface ResourceRequirements {
  requests?: ResourceList
  limits?: ResourceList
  claims?: { name?: string }[]
}

export interface Profile {
  type?: string
}

export interface SecurityContext {
  privileged?: boolean
  allowPrivilegeEscalation?: boolean
  runAsNonRoot?: boolean
  runAsUser?: number | bigint
  procMount?: string
  capabilities?: { add?: string[]; drop?: string[] }
  seccompProfile?: Profile
  appArmorProfile?: Profile
  seLinuxOptions?: { type?: string; user?: string; role?: string }
  windowsOptions?: { hostProcess?: boolean }
  sysctls?: { name?: string; value?: string }[]
}

export interface Handler {
  httpGet?: { host?: string }
  tcpSocket?: { host?: string }
}

export interface Container {
  name?: string
  image?: string
  imagePullPolicy?: string
  restartPolicy?: string
  resources?: ResourceRequirements
  securityContext?: SecurityContext
  ports?: { hostPort?: number }[]
  livenessProbe?: Handler
  readinessProbe?: Handler
  startupProbe?: Handler
  lifecycle?: { postStart?: Handler; preStop?: Handler }
  volumeMounts?: { name?: string; mountPath?: string; readOnly?: boolean }[]
  env?: { valueFrom?: { secretKeyRef?: { name?: string }; configMapKeyRef?: object } }[]
  envFrom?: { secretRef?: { name?: string }; configMapRef?: object }[]
}

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number
}

export interface Volume {
  name?: string
  [source: string]: unknown
}

export interface AffinityTerm {
  topologyKey?: string
  namespaces?: string[]
  namespaceSelector?: object
}

interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: AffinityTerm[]
  preferredDuringSchedulingIgnoredDuringExecution?: { podAffinityTerm?: AffinityTerm }[]
}

export interface PodSpec {
  containers?: Container[]
  initContainers?: Container[]
  ephemeralContainers?: Container[]
  volumes?: Volume[]
  tolerations?: Toleration[]
  nodeSelector?: Record<string, string>
  nodeName?: string
  os?: { name?: string }
  hostNetwork?: boolean
  hostPID?: boolean
  hostIPC?: boolean
  hostUsers?: boolean
  securityContext?: SecurityContext
  overhead?: ResourceList
  resources?: ResourceRequirements
  runtimeClassName?: string
  priorityClassName?: string
  priority?: number
  preemptionPolicy?: string
  activeDeadlineSeconds?: number | null
  serviceAccountName?: string
  serviceAccount?: string
  automountServiceAccountToken?: boolean
  imagePullSecrets?: { name?: string }[]
  resourceClaims?: { resourceClaimName?: string }[]
  affinity?: { podAffinity?: PodAffinity; podAntiAffinity?: PodAffinity }
}

export interface Pod extends KubeObject {
  spec?: PodSpec
  status?: { phase?: string }
}

export interface PodTemplate {
  metadata: ObjectMeta
  spec: PodSpec
}

type Template = { metadata?: ObjectMeta; spec?: PodSpec } | undefined

const TEMPLATES: ReadonlyMap<string, (object: KubeObject) => Template> = new Map<
  string,
  (object: KubeObject) => Template
>([
  ['/podtemplates', (object) => object['template'] as Template],
  ['/replicationcontrollers', specTemplate],
  ['apps/replicasets', specTemplate],
  ['apps/deployments', specTemplate],
  ['apps/statefulsets', specTemplate],
  ['apps/daemonsets', specTemplate],
  ['batch/jobs', specTemplate],
  [
    'batch/cronjobs',
    (object) => (object['spec'] as { jobTemplate?: { spec?: { template?: Template } } })?.jobTemplate?.spec?.template,
  ],
])

function specTemplate(object: KubeObject): Template {
  return (object['spec'] as { template?: Template } | undefined)?.template
}

export const hasPodTemplate = ({ group, resource }: GroupResource): boolean => TEMPLATES.has(`${group}/${resource}`)

/** Of a workload; undefined when it has none. */
export function podTemplateOf({ group, resource }: GroupResource, object: KubeObject): PodTemplate | undefined {
  const template = TEMPLATES.get(`${group}/${resource}`)?.(object)
  return template === undefined || template === null
    ? undefined
    : { metadata: template.metadata ?? {}, spec: template.spec ?? {} }
}

/** In the order in which kube-apiserver names them. */
export const allContainers = (spec: PodSpec): Container[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
]

const POD_LEVEL = (name: string): boolean => name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')

/** What a pod asks for as a whole: what runs together summed, never less than what runs before, and its overhead. */
export function podAmounts(spec: PodSpec, side: 'requests' | 'limits'): Amounts {
  const sums: Amounts = new Map()
  for (const { resources } of spec.containers ?? []) addAmounts(sums, resources?.[side])
  const sidecars: Amounts = new Map()
  const before: Amounts = new Map()
  for (const { restartPolicy, resources } of spec.initContainers ?? []) {
    if (restartPolicy === 'Always') {
      addAmounts(sums, resources?.[side])
      addAmounts(sidecars, resources?.[side])
      raiseAmounts(before, sidecars)
    } else {
      const together: Amounts = new Map(sidecars)
      addAmounts(together, resources?.[side])
      raiseAmounts(before, together)
    }
  }
  raiseAmounts(sums, before)
  for (const [name, text] of Object.entries(spec.resources?.[side] ?? {})) {
    if (POD_LEVEL(name)) sums.set(name, parseQuantity(text))
  }
  // A limit that is not there stays so: overhead does not make one.
  const overhead = Object.entries(spec.overhead ?? {}).filter(([name]) => side === 'requests' || sums.has(name))
  addAmounts(sums, Object.fromEntries(overhead))
  return sums
}

/** Neither requests nor limits of cpu or memory above zero anywhere. */
export function isBestEffort(spec: PodSpec): boolean {
  const holders =
    spec.resources === undefined
      ? [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map((container) => container.resources)
      : [spec.resources]
  return holders.every((holder) =>
    [holder?.requests, holder?.limits].every((list) =>
      ['cpu', 'memory'].every((name) => list?.[name] === undefined || parseQuantity(list[name]).sign <= 0),
    ),
  )
}
