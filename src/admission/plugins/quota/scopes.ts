/** Thread: any. Which quotas are about an object: those whose scopes it is all in. */
import type {
  PersistentVolumeClaim,
  Pod,
  PodAffinityTerm,
  PodSpec,
  ResourceQuota,
  ScopedResourceSelectorRequirement,
} from '../../../api/generated/kinds/core.v1.js'
import type { KubeObject } from '../../../api/object.js'
import { isBestEffort } from '../pod.js'

type Matcher = (object: KubeObject, requirement: ScopedResourceSelectorRequirement) => boolean

const spec = (pod: Pod): PodSpec => pod.spec ?? {}
const isTerminating = (object: KubeObject): boolean => Number(spec(object).activeDeadlineSeconds ?? -1) >= 0

const POD_SCOPES: ReadonlyMap<string, Matcher> = new Map<string, Matcher>([
  ['Terminating', isTerminating],
  ['NotTerminating', (object) => !isTerminating(object)],
  ['BestEffort', (object) => isBestEffort(spec(object))],
  ['NotBestEffort', (object) => !isBestEffort(spec(object))],
  ['PriorityClass', (object, requirement) => matchesValues(valueList(spec(object).priorityClassName), requirement)],
  ['CrossNamespacePodAffinity', (object) => affinityTerms(spec(object)).some(crossesNamespaces)],
])

const CLAIM_SCOPES: ReadonlyMap<string, Matcher> = new Map<string, Matcher>([
  ['VolumeAttributesClass', (object, requirement) => matchesValues(attributesClasses(object), requirement)],
])

const NO_SCOPES: ReadonlyMap<string, Matcher> = new Map()

export function matchesScopes({ spec: quota }: ResourceQuota, resource: string, object: KubeObject): boolean {
  const matchers = resource === 'pods' ? POD_SCOPES : resource === 'persistentvolumeclaims' ? CLAIM_SCOPES : NO_SCOPES
  const plain = (quota?.scopes ?? []).map(
    (scopeName): ScopedResourceSelectorRequirement => ({ scopeName, operator: 'Exists' }),
  )
  return [...plain, ...(quota?.scopeSelector?.matchExpressions ?? [])].every(
    (requirement) => matchers.get(requirement.scopeName ?? '')?.(object, requirement) === true,
  )
}

const valueList = (value: string | undefined): string[] => (value === undefined || value === '' ? [] : [value])

function matchesValues(
  present: readonly string[],
  { operator = 'Exists', values = [] }: ScopedResourceSelectorRequirement,
): boolean {
  switch (operator) {
    case 'In':
      return present.some((value) => values.includes(value))
    case 'NotIn':
      return !present.some((value) => values.includes(value))
    case 'DoesNotExist':
      return present.length === 0
    default:
      return present.length > 0
  }
}

/** The attributes classes of a claim: the one it has, the one it wants, and the one it is being changed to. */
function attributesClasses({ spec, status }: PersistentVolumeClaim): string[] {
  return [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].flatMap(valueList)
}

function affinityTerms({ affinity }: PodSpec): PodAffinityTerm[] {
  return [affinity?.podAffinity, affinity?.podAntiAffinity].flatMap((one) => [
    ...(one?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(one?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm ?? {}),
  ])
}

const crossesNamespaces = ({ namespaces = [], namespaceSelector }: PodAffinityTerm): boolean =>
  namespaces.length > 0 || namespaceSelector !== undefined
