/** Thread: pool. The rules of a pod's status. */

import { type FieldError, FieldPath, forbidden, invalid } from '../../../api/field-error.js'
import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from '../../../api/generated/kinds/core.v1.js'
import { ipFamilyOf, legacyIP } from '../../../api/validation/addresses.js'
import { dnsSubdomain, type Errors, nonnegative } from '../../../api/validation/checks.js'
import { isQualifiedName } from '../../../api/validation/names.js'
import { firstByName } from '../../generic/first-by-name.js'
import { annotationErrors, annotationUpdateErrors } from '../pod-template/annotations.js'
import { immutableButEmptyLists, userOrGroupId } from '../pod-template/checks.js'

const STATUS = FieldPath.of('status')
const SYSTEM_CONDITIONS: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'DisruptionTarget',
  'PodReadyToStartContainers',
  'PodResizePending',
  'PodResizeInProgress',
])

export function podStatusErrors(pod: Pod, oldPod: Pod): Errors {
  const [status, old] = [pod.status ?? {}, oldPod.status ?? {}]
  const [spec, annotations] = [oldPod.spec ?? {}, FieldPath.of('metadata', 'annotations')]
  return [
    ...annotationUpdateErrors(pod.metadata?.annotations, oldPod.metadata?.annotations, annotations),
    ...annotationErrors(pod.metadata?.annotations, spec, annotations),
    ...conditionErrors(status),
    ...nominatedNodeErrors(status, old, spec),
    ...nonnegative(status.observedGeneration, STATUS.child('observedGeneration')),
    ...immutableButEmptyLists(status.qosClass, old.qosClass, STATUS.child('qosClass')),
    ...transitionErrors(status, old, spec, 'containerStatuses'),
    ...transitionErrors(status, old, spec, 'initContainerStatuses'),
    ...transitionErrors(status, old, spec, 'ephemeralContainerStatuses'),
    ...claimStatusErrors(status, spec),
    ...addressErrors(status, old, 'podIP', 'podIPs'),
    ...addressErrors(status, old, 'hostIP', 'hostIPs'),
    ...(['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const).flatMap((list) =>
      (status[list] ?? []).flatMap((container, i) => userErrors(container, spec, STATUS.child(list).index(i))),
    ),
  ]
}

function conditionErrors({ conditions = [] }: PodStatus): Errors {
  return conditions.flatMap(({ type = '', observedGeneration }, i) => {
    const at = STATUS.child('conditions').index(i)
    return [
      ...nonnegative(observedGeneration, at.child('observedGeneration')),
      ...(SYSTEM_CONDITIONS.has(type)
        ? []
        : isQualifiedName(type).map((reason) => invalid(at.child('Type'), type, reason))),
    ]
  })
}

function nominatedNodeErrors(status: PodStatus, old: PodStatus, spec: PodSpec): Errors {
  const name = status.nominatedNodeName ?? ''
  if (name === '' || name === (old.nominatedNodeName ?? '')) return []
  const at = STATUS.child('nominatedNodeName')
  return [
    ...dnsSubdomain(name, at),
    ...((spec.nodeName ?? '') === '' ? [] : [forbidden(at, 'may not be set on pods that are already bound to a node')]),
  ]
}

type StatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses'

/** What has ended for good does not run again. */
function transitionErrors(status: PodStatus, old: PodStatus, spec: PodSpec, list: StatusList): FieldError[] {
  const [byName, containers] = [firstByName(status[list]), firstByName(containersOf(spec, list))]
  return (old[list] ?? []).flatMap((before, i) => {
    const ended = before.state?.terminated
    const now = byName.get(before.name ?? '')
    if (ended === undefined || now === undefined || now.state?.terminated !== undefined) return []
    if (mayRestart(spec, containers.get(before.name ?? ''), ended.exitCode ?? 0)) return []
    return [forbidden(STATUS.child(list).index(i).child('state'), 'may not be transitioned to non-terminated state')]
  })
}

/** The containers that may start again; ephemeral ones do not. */
function containersOf(spec: PodSpec, list: StatusList): readonly Container[] {
  if (list === 'ephemeralContainerStatuses') return []
  return (list === 'containerStatuses' ? spec.containers : spec.initContainers) ?? []
}

function mayRestart(spec: PodSpec, container: Container | undefined, exitCode: number): boolean {
  if (container === undefined) return false
  for (const { exitCodes } of container.restartPolicyRules ?? []) {
    const listed = (exitCodes?.values ?? []).includes(exitCode)
    if (exitCodes !== undefined && listed === (exitCodes.operator === 'In')) return true
  }
  const policy = container.restartPolicy ?? spec.restartPolicy
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}

function claimStatusErrors({ resourceClaimStatuses = [] }: PodStatus, spec: PodSpec): Errors {
  const names = new Set<string>()
  const claims = new Set((spec.resourceClaims ?? []).map((claim) => claim.name))
  return resourceClaimStatuses.flatMap(({ name = '', resourceClaimName = '' }, i) => {
    const at = STATUS.child('resourceClaimStatuses').index(i)
    const errors: Errors = []
    if (!claims.has(name))
      errors.push(invalid(at.child('name'), name, 'must match the name of an entry in `spec.resourceClaims`'))
    if (names.has(name)) errors.push({ ...invalid(at.child('name'), name, ''), type: 'FieldValueDuplicate' })
    names.add(name)
    if (resourceClaimName !== '') errors.push(...dnsSubdomain(resourceClaimName, at.child('name')))
    return errors
  })
}

/** The first of the list is the one that clients of old read alone. */
function addressErrors(status: PodStatus, old: PodStatus, one: 'podIP' | 'hostIP', list: 'podIPs' | 'hostIPs'): Errors {
  const [ips, single] = [(status[list] ?? []).map(({ ip = '' }) => ip), status[one] ?? '']
  const known = new Set((old[list] ?? []).map(({ ip = '' }) => ip))
  const at = STATUS.child(list)
  const errors = ips.flatMap((ip, i) => (known.has(ip) ? [] : legacyIP(ip, at.index(i))))
  if (ips.length > 2 || (ips.length === 2 && ipFamilyOf(ips[0]!) === ipFamilyOf(ips[1]!)))
    errors.push(invalid(at, status[list], 'may specify no more than one IP for each IP family'))
  if (one === 'podIP' && (single === '') !== (ips.length === 0))
    errors.push(invalid(at, status[list] ?? null, 'podIP and podIPs must either both be set or both be unset'))
  else if (ips.length > 0 && single !== ips[0])
    errors.push(invalid(at.index(0).child('ip'), ips[0], `must be equal to \`${one}\``))
  return errors
}

function userErrors({ user }: ContainerStatus, spec: PodSpec, path: FieldPath): Errors {
  const linux = user?.linux
  if (linux === undefined) return []
  const at = path.child('linux')
  if (spec.os?.name === 'windows') return [forbidden(at, 'cannot be set for a windows pod')]
  return [
    ...userOrGroupId(linux.uid, at.child('uid')),
    ...userOrGroupId(linux.gid, at.child('gid')),
    ...(linux.supplementalGroups ?? []).flatMap((id, i) => userOrGroupId(id, at.child('supplementalGroups').index(i))),
  ]
}
