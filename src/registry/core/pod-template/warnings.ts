/** Thread: any. What is accepted in pods but will not do what it looks like. */

import { FieldPath } from '../../../api/field-error.js'
import type {
  ContainerPort,
  NodeSelectorTerm,
  PodAffinity,
  PodSpec,
  VolumeSource,
} from '../../../api/generated/kinds/core.v1.js'
import type { ObjectMeta } from '../../../api/object.js'
import { parseQuantity } from '../../../api/quantity.js'
import type { ResourceList } from '../../../api/scalar-types.js'
import { ipWarnings } from '../../../api/validation/addresses.js'
import { isValidLabelValue } from '../../../api/validation/names.js'
import { deprecatedNodeLabel } from '../node-labels.js'
import { appArmorProfileOf } from './annotations.js'
import { equalButEmptyLists } from './checks.js'
import { claimSpecWarnings } from './claim-spec.js'
import { overlappingPathWarnings } from './path-warnings.js'
import { allContainers } from './pod-spec.js'

const DEPRECATED_ANNOTATIONS: ReadonlyMap<string, string> = new Map([
  [
    'scheduler.alpha.kubernetes.io/critical-pod',
    'non-functional since v1.16; use the "priorityClassName" field instead',
  ],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional since v1.11; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional since v1.11; use the "sysctls" field instead'],
])
const DEPRECATED_VOLUMES: ReadonlyMap<keyof VolumeSource, string> = new Map([
  ['photonPersistentDisk', 'non-functional since v1.16'],
  ['gitRepo', 'deprecated since v1.11, disabled by default since v1.33'],
  ['scaleIO', 'non-functional since v1.22'],
  ['flocker', 'non-functional since v1.25'],
  ['storageos', 'non-functional since v1.25'],
  ['quobyte', 'non-functional since v1.25'],
  ['glusterfs', 'non-functional since v1.26'],
  ['cephfs', 'non-functional since v1.31'],
  ['rbd', 'non-functional since v1.31'],
])
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/'

/** Pairs of one pod: a warning each would be 2 GB for 60,000 equal ports, of which a client is sent 4 KB. */
const MAX_COMPARED_PORTS = 10_000

/** `path` is the template's; none for a pod. */
export function podWarnings(spec: PodSpec, metadata: ObjectMeta | undefined, path?: FieldPath): string[] {
  const specPath = path?.child('spec') ?? FieldPath.of('spec')
  const annotationsPath = path?.child('metadata', 'annotations') ?? FieldPath.of('metadata', 'annotations')
  return [
    ...schedulingWarnings(spec, specPath),
    ...annotationWarnings(spec, metadata?.annotations ?? {}, annotationsPath, path !== undefined),
    ...volumeWarnings(spec, specPath),
    ...listWarnings(spec, specPath),
    ...fractionWarnings(spec.overhead, specPath.child('overhead')),
    ...containerWarnings(spec, specPath),
    ...portWarnings(spec, specPath),
    ...(spec.terminationGracePeriodSeconds !== undefined && spec.terminationGracePeriodSeconds < 0
      ? [`${specPath.child('terminationGracePeriodSeconds')}: must be >= 0; negative values are treated as 1`]
      : []),
    ...affinityWarnings(spec.affinity?.podAffinity, specPath.child('affinity', 'podAffinity')),
    ...affinityWarnings(spec.affinity?.podAntiAffinity, specPath.child('affinity', 'podAntiAffinity')),
    ...(spec.dnsConfig?.nameservers ?? []).flatMap((ip, i) =>
      ipWarnings(ip, specPath.child('dnsConfig', 'nameservers').index(i)),
    ),
    ...(spec.hostAliases ?? []).flatMap(({ ip = '' }, i) =>
      ipWarnings(ip, specPath.child('hostAliases').index(i).child('ip')),
    ),
  ]
}

function schedulingWarnings(spec: PodSpec, path: FieldPath): string[] {
  const warnings: string[] = []
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const text = deprecatedNodeLabel(key)
    if (text !== undefined) warnings.push(`${path.child('nodeSelector').key(key)}: ${text}`)
  }
  const affinity = spec.affinity?.nodeAffinity
  const at = path.child('affinity', 'nodeAffinity')
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  for (const [i, term] of required.entries())
    warnings.push(
      ...termWarnings(
        term,
        at.child('requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms').index(i),
        false,
      ),
    )
  for (const [i, { preference = {} }] of (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries())
    warnings.push(
      ...termWarnings(
        preference,
        at.child('preferredDuringSchedulingIgnoredDuringExecution').index(i).child('preference'),
        true,
      ),
    )
  for (const [i, { topologyKey = '', labelSelector }] of (spec.topologySpreadConstraints ?? []).entries()) {
    const where = path.child('topologySpreadConstraints').index(i)
    const text = deprecatedNodeLabel(topologyKey)
    if (text !== undefined) warnings.push(`${where.child('topologyKey')}: ${topologyKey} is ${text}`)
    if (labelSelector === undefined)
      warnings.push(`${where.child('labelSelector')}: without a labelSelector no pod matches`)
  }
  return warnings
}

function termWarnings({ matchExpressions = [] }: NodeSelectorTerm, path: FieldPath, values: boolean): string[] {
  return matchExpressions.flatMap((expression, i) => {
    const at = path.child('matchExpressions').index(i)
    const text = deprecatedNodeLabel(expression.key ?? '')
    return [
      ...(text === undefined ? [] : [`${at.child('key')}: ${expression.key} is ${text}`]),
      ...(values ? (expression.values ?? []) : []).flatMap((value, j) =>
        isValidLabelValue(value).map((reason) => `${at.child('values').index(j)}: ${value} is invalid, ${reason}`),
      ),
    ]
  })
}

function annotationWarnings(
  spec: PodSpec,
  annotations: Readonly<Record<string, string>>,
  path: FieldPath,
  isTemplate: boolean,
): string[] {
  const has = (key: string): boolean => Object.hasOwn(annotations, key)
  const warnings: string[] = []
  for (const [key, text] of DEPRECATED_ANNOTATIONS) if (has(key)) warnings.push(`${path.key(key)}: ${text}`)
  if (spec.securityContext?.seccompProfile === undefined && has(SECCOMP_POD))
    warnings.push(`${path.key(SECCOMP_POD)}: non-functional since v1.27; use the "seccompProfile" field instead`)
  for (const { container } of allContainers(spec)) {
    const [seccomp, appArmor] = [`${SECCOMP_CONTAINER}${container.name}`, `${APP_ARMOR}${container.name}`]
    if (container.securityContext?.seccompProfile === undefined && has(seccomp))
      warnings.push(`${path.key(seccomp)}: non-functional since v1.27; use the "seccompProfile" field instead`)
    if (!isTemplate || container.securityContext?.appArmorProfile !== undefined || !has(appArmor)) continue
    const ofPod = spec.securityContext?.appArmorProfile
    if (ofPod === undefined || !equalButEmptyLists(ofPod, appArmorProfileOf(annotations[appArmor]!)))
      warnings.push(`${path.key(appArmor)}: deprecated since v1.30; use the "appArmorProfile" field instead`)
  }
  return warnings
}

function volumeWarnings(spec: PodSpec, path: FieldPath): string[] {
  const volumes = spec.volumes ?? []
  const deprecated = volumes.flatMap((volume, i) =>
    [...DEPRECATED_VOLUMES]
      .filter(([source]) => volume[source] !== undefined)
      .map(([source, text]) => `${path.child('volumes').index(i).child(source)}: ${text}`),
  )
  const fractions = volumes.flatMap(({ ephemeral }, i) =>
    claimSpecWarnings(
      ephemeral?.volumeClaimTemplate?.spec ?? {},
      path.child('volumes').index(i).child('ephemeral', 'volumeClaimTemplate', 'spec'),
    ),
  )
  return [...deprecated, ...fractions, ...overlappingPathWarnings(volumes)]
}

function listWarnings(spec: PodSpec, path: FieldPath): string[] {
  const repeated = (values: readonly string[], where: (i: number) => FieldPath, what: string): string[] => {
    const seen = new Set<string>()
    return values.flatMap((value, i) => {
      if (seen.has(value)) return [`${where(i)}: duplicate ${what} ${JSON.stringify(value)}`]
      seen.add(value)
      return []
    })
  }
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = '' }) => name)
  const secretAt = (i: number): FieldPath => path.child('imagePullSecrets').index(i).child('name')
  return [
    ...repeated(
      (spec.hostAliases ?? []).map(({ ip = '' }) => ip),
      (i) => path.child('hostAliases').index(i).child('ip'),
      'ip',
    ),
    ...repeated(secrets, secretAt, 'name'),
    ...secrets.flatMap((name, i) => (name === '' ? [`${secretAt(i)}: invalid empty name`] : [])),
  ]
}

function fractionWarnings(list: ResourceList | undefined, path: FieldPath): string[] {
  return ['memory', 'ephemeral-storage'].flatMap((name) => {
    const amount = list?.[name]
    if (amount === undefined || parseQuantity(amount).milliValue() % 1000n === 0n) return []
    return [`${path.key(name)}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`]
  })
}

function containerWarnings(spec: PodSpec, path: FieldPath): string[] {
  return allContainers(spec).flatMap(({ list, index, container }) => {
    const at = path.child(list).index(index)
    const names = new Set<string>()
    const hidden = (container.env ?? []).flatMap(({ name = '', value = '', valueFrom }, i) => {
      if (!names.has(name)) {
        names.add(name)
        return []
      }
      const own = `$(${name})`
      const extends_ = valueFrom === undefined && value !== own && value.includes(own)
      return extends_ ? [] : [`${at.child('env').index(i)}: hides previous definition of ${JSON.stringify(name)}`]
    })
    return [
      ...fractionWarnings(container.resources?.limits, at.child('resources', 'limits')),
      ...fractionWarnings(container.resources?.requests, at.child('resources', 'requests')),
      ...hidden,
    ]
  })
}

function portWarnings(spec: PodSpec, path: FieldPath): string[] {
  const warnings: string[] = []
  const byPort = new Map<string, { at: FieldPath; port: ContainerPort }[]>()
  const byName = new Map<string, FieldPath>()
  let compared = 0
  for (const { list, index, container } of allContainers(spec)) {
    for (const [i, port] of (container.ports ?? []).entries()) {
      const at = path.child(list).index(index).child('ports').index(i)
      if ((port.hostIP ?? '') !== '' && (port.hostPort ?? 0) === 0) warnings.push(`${at}: hostIP set without hostPort`)
      const key = `${port.containerPort ?? 0}/${port.protocol ?? ''}`
      const others = byPort.get(key) ?? []
      for (const other of others) {
        if (++compared > MAX_COMPARED_PORTS) break
        const text = portConflict(port, other.port)
        if (text !== undefined) warnings.push(`${at}: ${text} port definition with ${other.at}`)
      }
      others.push({ at, port })
      byPort.set(key, others)
      if ((port.name ?? '') === '') continue
      const first = byName.get(port.name!)
      if (first === undefined) byName.set(port.name!, at)
      else warnings.push(`${at}: duplicate port name ${JSON.stringify(port.name)} with ${first}`)
    }
  }
  return warnings
}

function portConflict(a: ContainerPort, b: ContainerPort): string | undefined {
  const [aPort, bPort, aIP, bIP] = [a.hostPort ?? 0, b.hostPort ?? 0, a.hostIP ?? '', b.hostIP ?? '']
  if (aIP === bIP && aPort === bPort) return 'duplicate'
  if (aPort === 0 || bPort === 0) return 'overlapping'
  return aPort === bPort && (aIP === '') !== (bIP === '') ? 'dangerously ambiguous' : undefined
}

function affinityWarnings(affinity: PodAffinity | undefined, path: FieldPath): string[] {
  const text = 'without a labelSelector no pod matches'
  return [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ labelSelector }, i) =>
      labelSelector === undefined
        ? [`${path.child('requiredDuringSchedulingIgnoredDuringExecution').index(i).child('labelSelector')}: ${text}`]
        : [],
    ),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).flatMap(({ podAffinityTerm }, i) =>
      podAffinityTerm?.labelSelector === undefined
        ? [
            `${path.child('preferredDuringSchedulingIgnoredDuringExecution').index(i).child('podAffinityTerm', 'labelSelector')}: ${text}`,
          ]
        : [],
    ),
  ]
}
