/** Thread: any. The rules of a pod's spec, alone or in a template. */

import { duplicate, type FieldPath, forbidden, invalid, notFound, required, tooLong } from '../../../api/field-error.js'
import type { PodSpec, PodTemplateSpec } from '../../../api/generated/kinds/core.v1.js'
import type { ObjectMeta } from '../../../api/object.js'
import { legacyIP } from '../../../api/validation/addresses.js'
import { because, dnsLabel, dnsSubdomain, type Errors, inRange, oneOf } from '../../../api/validation/checks.js'
import { validateAnnotations, validateLabels } from '../../../api/validation/object-meta.js'
import { affinityErrors } from './affinity.js'
import { annotationErrors, profileMismatchErrors } from './annotations.js'
import {
  type ContainerContext,
  containersErrors,
  ephemeralContainersErrors,
  initContainersErrors,
} from './container.js'
import { podResourcesErrors } from './pod-resources.js'
import { allContainers } from './pod-spec.js'
import { containerResourceNameErrors, resourceErrors } from './resources.js'
import { gateErrors, spreadErrors, tolerationErrors } from './scheduling.js'
import { hostProcessErrors, osErrors, podSecurityContextErrors } from './security-context.js'
import { volumesErrors } from './volume.js'

const MAX_DEADLINE = 2 ** 31 - 1
const NO_CLAIMS: ReadonlySet<string> = new Set()

export function podTemplateErrors(template: PodTemplateSpec | undefined, path: FieldPath): Errors {
  const { metadata, spec = {} } = template ?? {}
  return [
    ...validateLabels(metadata?.labels, path.child('labels')),
    ...validateAnnotations(metadata?.annotations, path.child('annotations')),
    ...annotationErrors(metadata?.annotations, spec, path.child('annotations')),
    ...podSpecErrors(spec, undefined, path.child('spec')),
    ...profileMismatchErrors(metadata?.annotations, spec, path.child('spec')),
    ...((spec.ephemeralContainers ?? []).length > 0
      ? [forbidden(path.child('spec', 'ephemeralContainers'), 'ephemeral containers not allowed in pod template')]
      : []),
  ]
}

/** `podMeta` only for pods themselves. */
export function podSpecErrors(spec: PodSpec, podMeta: ObjectMeta | undefined, path: FieldPath): Errors {
  const { sound, errors: volumeErrors } = volumesErrors(spec.volumes ?? [], podMeta, path.child('volumes'))
  const claims = new Set((spec.resourceClaims ?? []).map(({ name = '' }) => name).filter((name) => name !== ''))
  const context: ContainerContext = { spec, volumes: sound, claims }
  const contexts = allContainers(spec).map(({ list, index, container }) => ({
    path: path.child(list).index(index),
    context: container.securityContext,
  }))
  return [
    ...(spec.terminationGracePeriodSeconds === undefined
      ? [required(path.child('terminationGracePeriodSeconds'))]
      : []),
    ...volumeErrors,
    ...resourceClaimErrors(spec, podMeta, path.child('resourceClaims')),
    ...containersErrors(context, path.child('containers')),
    ...initContainersErrors(context, path.child('initContainers')),
    ...ephemeralContainersErrors(context, path.child('ephemeralContainers')),
    ...podResourcesErrors(spec, claims, path.child('resources')),
    ...hostNetworkErrors(spec, podMeta !== undefined, path),
    ...oneOf(spec.restartPolicy, ['Always', 'OnFailure', 'Never'], path.child('restartPolicy'), 'required'),
    ...oneOf(
      spec.dnsPolicy,
      ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
      path.child('dnsPolicy'),
      'required',
    ),
    ...validateLabels(spec.nodeSelector, path.child('nodeSelector')),
    ...podSecurityContextErrors(spec.securityContext, spec, path.child('securityContext')),
    ...affinityErrors(spec.affinity, path.child('affinity')),
    ...dnsConfigErrors(spec, path.child('dnsConfig')),
    ...gateErrors(spec, path),
    ...spreadErrors(spec.topologySpreadConstraints ?? [], path.child('topologySpreadConstraints')),
    ...hostProcessErrors(spec, contexts, path),
    ...hostUsersErrors(spec, path),
    ...hostnameErrors(spec, path),
    ...referenceErrors(spec, path),
    ...tolerationErrors(spec.tolerations ?? [], path.child('tolerations')),
    ...(spec.hostAliases ?? []).flatMap(({ ip = '', hostnames = [] }, i) => {
      const at = path.child('hostAliases').index(i)
      return [
        ...legacyIP(ip, at.child('ip')),
        ...hostnames.flatMap((name, j) => dnsSubdomain(name, at.child('hostnames').index(j))),
      ]
    }),
    ...(spec.overhead === undefined
      ? []
      : resourceErrors({ limits: spec.overhead }, containerResourceNameErrors, NO_CLAIMS, path.child('overhead'))),
    ...operatingSystemErrors(spec, contexts, path),
    ...fileKeyErrors(spec, path),
  ]
}

function operatingSystemErrors(spec: PodSpec, contexts: Parameters<typeof osErrors>[1], path: FieldPath): Errors {
  if (spec.os === undefined) return []
  const name = spec.os.name ?? ''
  if (name === '') return [required(path.child('os', 'name'))]
  const errors = oneOf(name, ['linux', 'windows'], path.child('os'))
  return errors.length > 0 ? errors : osErrors(spec, contexts, path)
}

function resourceClaimErrors(
  { resourceClaims = [] }: PodSpec,
  podMeta: ObjectMeta | undefined,
  path: FieldPath,
): Errors {
  const names = new Set<string>()
  return resourceClaims.flatMap((claim, i) => {
    const at = path.index(i)
    if (podMeta?.annotations?.['kubernetes.io/config.mirror'] !== undefined)
      return [{ ...forbidden(at, 'static pods do not support resource claims'), field: '' }]
    const { name = '', resourceClaimName, resourceClaimTemplateName } = claim
    const errors: Errors = []
    if (name === '') errors.push(required(at.child('name')))
    else if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    else errors.push(...dnsLabel(name, at.child('name')))
    names.add(name)
    if ((resourceClaimName === undefined) === (resourceClaimTemplateName === undefined))
      errors.push(
        invalid(at, claim, 'exactly one of `resourceClaimName` and `resourceClaimTemplateName` must be specified'),
      )
    if (resourceClaimName !== undefined) errors.push(...dnsSubdomain(resourceClaimName, at.child('resourceClaimName')))
    if (resourceClaimTemplateName !== undefined)
      errors.push(...dnsSubdomain(resourceClaimTemplateName, at.child('resourceClaimTemplateName')))
    return errors
  })
}

/** On the host's network a port is the host's own. In templates it may still be left out. */
function hostNetworkErrors(spec: PodSpec, isPod: boolean, path: FieldPath): Errors {
  if (spec.hostNetwork !== true) return []
  return (spec.containers ?? []).flatMap(({ ports = [] }, i) =>
    ports.flatMap(({ hostPort = 0, containerPort = 0 }, j) =>
      (isPod || hostPort !== 0) && hostPort !== containerPort
        ? [
            invalid(
              path.child('containers').index(i).child('ports').index(j).child('hostPort'),
              hostPort,
              'must match `containerPort` when `hostNetwork` is true',
            ),
          ]
        : [],
    ),
  )
}

const SEARCH_DOMAIN = /^[a-z0-9_]([-_a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/

function dnsConfigErrors({ dnsConfig, dnsPolicy }: PodSpec, path: FieldPath): Errors {
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {}
  if (dnsPolicy === 'None') {
    if (dnsConfig === undefined) return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')]
    if (nameservers.length === 0)
      return [required(path.child('nameservers'), 'must provide at least one DNS nameserver')]
  }
  const errors: Errors = []
  if (nameservers.length > 3)
    errors.push(invalid(path.child('nameservers'), nameservers, 'must not have more than 3 nameservers'))
  errors.push(...nameservers.flatMap((address, i) => legacyIP(address, path.child('nameservers').index(i))))
  const searchesAt = path.child('searches')
  if (searches.length > 32) errors.push(invalid(searchesAt, searches, 'must not have more than 32 search paths'))
  if (searches.join(' ').length > 2048)
    errors.push(invalid(searchesAt, searches, 'must not have more than 2048 characters in the search list'))
  for (const [i, search] of searches.entries())
    if (search !== '.') errors.push(...because(searchReasons(search.replace(/\.$/, '')), searchesAt.index(i), search))
  for (const [i, { name = '' }] of options.entries())
    if (name === '') errors.push(required(path.child('options').index(i), 'must not be empty'))
  return errors
}

const searchReasons = (search: string): string[] => [
  ...(search.length > 253 ? ['must be no more than 253 bytes'] : []),
  ...(SEARCH_DOMAIN.test(search) ? [] : ['a DNS subdomain, in which underscores are allowed too']),
]

function hostUsersErrors(spec: PodSpec, path: FieldPath): Errors {
  if (spec.hostUsers !== false) return []
  const errors: Errors = []
  const refused = (where: FieldPath) => forbidden(where, 'when `hostUsers` is false')
  if (spec.hostNetwork === true) errors.push(refused(path.child('hostNetwork')))
  if (spec.hostPID === true) errors.push(refused(path.child('HostPID')))
  if (spec.hostIPC === true) errors.push(refused(path.child('HostIPC')))
  for (const { list, index, container } of allContainers(spec))
    if ((container.volumeDevices ?? []).length > 0)
      errors.push(refused(path.child(list).index(index).child('volumeDevices')))
  return errors
}

function hostnameErrors(spec: PodSpec, path: FieldPath): Errors {
  const { hostname = '', subdomain = '', hostnameOverride } = spec
  const errors: Errors = []
  if (hostnameOverride !== undefined) {
    const at = path.child('hostnameOverride')
    if (spec.setHostnameAsFQDN === true)
      errors.push(forbidden(at, 'may not be specified when setHostnameAsFQDN is true'))
    if (spec.hostNetwork === true) errors.push(forbidden(at, 'may not be specified when hostNetwork is true'))
    if (hostnameOverride.length > 64) errors.push(tooLong(at, 64))
    errors.push(...dnsSubdomain(hostnameOverride, at))
  }
  if (hostname !== '') errors.push(...dnsLabel(hostname, path.child('hostname')))
  if (subdomain !== '') errors.push(...dnsLabel(subdomain, path.child('subdomain')))
  return errors
}

/** Names of other objects, and plain numbers. */
function referenceErrors(spec: PodSpec, path: FieldPath): Errors {
  const errors: Errors = []
  for (const field of ['serviceAccountName', 'nodeName', 'priorityClassName'] as const) {
    const name = spec[field] ?? ''
    if (name !== '') errors.push(...dnsSubdomain(name, path.child(field)))
  }
  if (spec.runtimeClassName !== undefined)
    errors.push(...dnsSubdomain(spec.runtimeClassName, path.child('runtimeClassName')))
  if (spec.activeDeadlineSeconds !== undefined)
    errors.push(...inRange(spec.activeDeadlineSeconds, path.child('activeDeadlineSeconds'), 1, MAX_DEADLINE))
  if (spec.preemptionPolicy !== undefined)
    errors.push(
      ...oneOf(spec.preemptionPolicy, ['PreemptLowerPriority', 'Never'], path.child('preemptionPolicy'), 'required'),
    )
  return errors
}

/** Variables out of files: the file's volume must be there and be empty at first. */
function fileKeyErrors(spec: PodSpec, path: FieldPath): Errors {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name ?? '', volume]))
  return allContainers(spec).flatMap(({ list, index, container }) =>
    (container.env ?? []).flatMap(({ valueFrom }, i) => {
      if (valueFrom?.fileKeyRef === undefined) return []
      const { volumeName = '' } = valueFrom.fileKeyRef
      const at = path.child(list).index(index).child('env').index(i).child('valueFrom', 'fileKeyRef', 'volumeName')
      const volume = volumes.get(volumeName)
      if (volume === undefined) return [notFound(at, volumeName)]
      return volume.emptyDir === undefined
        ? [invalid(at, volumeName, 'referenced volume must be of type emptyDir')]
        : []
    }),
  )
}
