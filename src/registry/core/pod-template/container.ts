/** Thread: any. Containers of all three lists: defaults and rules. */

import { duplicate, type FieldPath, forbidden, invalid, notFound, required, tooMany } from '../../../api/field-error.js'
import type { Container, ContainerPort, PodSpec } from '../../../api/generated/kinds/core.v1.js'
import { because, dnsLabel, type Errors, oneOf, portNameReasons, portNumber } from '../../../api/validation/checks.js'
import { envErrors, envFromErrors, setFieldRefDefaults } from './env.js'
import { imageTag } from './image-name.js'
import { deviceErrors, mountErrors, type Volumes } from './mounts.js'
import { lifecycleErrors, type ProbeKind, probeErrors, setLifecycleDefaults, setProbeDefaults } from './probe.js'
import { containerResourceNameErrors, resourceErrors, setResourceDefaults } from './resources.js'
import { securityContextErrors } from './security-context.js'
import { PULL_POLICIES } from './volume-source.js'

const PROBES: readonly ProbeKind[] = ['livenessProbe', 'readinessProbe', 'startupProbe']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

export function setContainerDefaults(container: Container): void {
  if ((container.imagePullPolicy ?? '') === '')
    container.imagePullPolicy = imageTag(container.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
  container.terminationMessagePath ||= '/dev/termination-log'
  container.terminationMessagePolicy ||= 'File'
  for (const port of container.ports ?? []) port.protocol ||= 'TCP'
  for (const { valueFrom } of container.env ?? []) {
    setFieldRefDefaults(valueFrom?.fieldRef)
    if (valueFrom?.fileKeyRef !== undefined) valueFrom.fileKeyRef.optional ??= false
  }
  setResourceDefaults(container.resources)
  for (const kind of PROBES) setProbeDefaults(container[kind])
  setLifecycleDefaults(container.lifecycle)
}

/** What the rules of one container need to know of its pod. */
export interface ContainerContext {
  readonly spec: PodSpec
  readonly volumes: Volumes
  readonly claims: ReadonlySet<string>
}

function commonErrors(container: Container, { spec, volumes, claims }: ContainerContext, path: FieldPath): Errors {
  const { name = '', image = '', ports = [], env = [], envFrom = [] } = container
  return [
    ...(name === '' ? [required(path.child('name'))] : dnsLabel(name, path.child('name'))),
    ...(image === '' ? [required(path.child('image'))] : []),
    ...oneOf(
      container.terminationMessagePolicy,
      ['File', 'FallbackToLogsOnError'],
      path.child('terminationMessagePolicy'),
      'required',
    ),
    ...portErrors(ports, path.child('ports')),
    ...envErrors(env, path.child('env')),
    ...envFromErrors(envFrom, path.child('envFrom')),
    ...mountErrors(container, volumes, path.child('volumeMounts')),
    ...deviceErrors(container, volumes, path.child('volumeDevices')),
    ...oneOf(container.imagePullPolicy, PULL_POLICIES, path.child('imagePullPolicy'), 'required'),
    ...resourceErrors(container.resources, containerResourceNameErrors, claims, path.child('resources')),
    ...resizePolicyErrors(container, spec, path.child('resizePolicy')),
    ...securityContextErrors(container.securityContext, path.child('securityContext'), spec.hostUsers ?? true),
  ]
}

function portErrors(ports: readonly ContainerPort[], path: FieldPath): Errors {
  const names = new Set<string>()
  return ports.flatMap(({ name = '', containerPort = 0, hostPort = 0, protocol }, i) => {
    const at = path.index(i)
    const errors: Errors = []
    if (name !== '') {
      const reasons = portNameReasons(name)
      errors.push(...because(reasons, at.child('name'), name))
      if (reasons.length === 0 && names.has(name)) errors.push(duplicate(at.child('name'), name))
      names.add(name)
    }
    if (containerPort === 0) errors.push(required(at.child('containerPort')))
    else errors.push(...portNumber(containerPort, at.child('containerPort')))
    if (hostPort !== 0) errors.push(...portNumber(hostPort, at.child('hostPort')))
    errors.push(...oneOf(protocol, PROTOCOLS, at.child('protocol'), 'required'))
    return errors
  })
}

function resizePolicyErrors({ resizePolicy = [] }: Container, spec: PodSpec, path: FieldPath): Errors {
  const seen = new Set<string>()
  return resizePolicy.flatMap(({ resourceName = '', restartPolicy = '' }, i) => {
    const errors: Errors = []
    if (seen.has(resourceName)) errors.push(duplicate(path.index(i), resourceName))
    seen.add(resourceName)
    errors.push(...oneOf(resourceName, ['cpu', 'memory'], path, 'required'))
    errors.push(...oneOf(restartPolicy, ['NotRequired', 'RestartContainer'], path, 'required'))
    if (spec.restartPolicy === 'Never' && restartPolicy !== 'NotRequired')
      errors.push(invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"))
    return errors
  })
}

function restartPolicyErrors({ restartPolicy, restartPolicyRules: rules = [] }: Container, path: FieldPath): Errors {
  const at = path.child('restartPolicy')
  const errors: Errors = []
  if (restartPolicy === undefined) {
    if (rules.length === 0) return errors
    errors.push(required(at, 'must specify restartPolicy when restart rules are used'))
  } else errors.push(...oneOf(restartPolicy, ['Always', 'Never', 'OnFailure'], at))
  const rulesAt = path.child('restartPolicyRules')
  if (rules.length > 20) errors.push(tooMany(rulesAt, rules.length, 20))
  for (const [i, { action, exitCodes }] of rules.entries()) {
    errors.push(...oneOf(action, ['Restart', 'RestartAllContainers'], rulesAt.index(i).child('action')))
    const codesAt = rulesAt.index(i).child('exitCodes')
    if (exitCodes === undefined) {
      errors.push(required(codesAt, 'must be specified'))
      continue
    }
    errors.push(...oneOf(exitCodes.operator, ['In', 'NotIn'], codesAt.child('operator')))
    const count = exitCodes.values?.length ?? 0
    if (count > 255) errors.push(tooMany(codesAt.child('values'), count, 255))
  }
  return errors
}

/** Rules of an init container without a policy are not looked at. */
const initRestartPolicyErrors = (container: Container, path: FieldPath): Errors =>
  restartPolicyErrors(container, path).slice(0, container.restartPolicy === undefined ? 1 : undefined)

function hookErrors(container: Container, spec: PodSpec, path: FieldPath): Errors {
  const grace = spec.terminationGracePeriodSeconds
  return [
    ...(container.lifecycle === undefined
      ? []
      : lifecycleErrors(container.lifecycle, grace, path.child('lifecycle'), spec.os?.name)),
    ...PROBES.flatMap((kind) => probeErrors(kind, container[kind], grace, path.child(kind))),
  ]
}

/** Ports of the host that several containers want. */
function hostPortErrors(containers: readonly Container[], path: FieldPath): Errors {
  const seen = new Set<string>()
  return containers.flatMap(({ ports = [] }, i) =>
    ports.flatMap(({ protocol = '', hostIP = '', hostPort = 0 }, j) => {
      if (hostPort === 0) return []
      const key = `${protocol}/${hostIP}/${hostPort}`
      if (seen.has(key)) return [duplicate(path.index(i).child('ports').index(j).child('hostPort'), key)]
      seen.add(key)
      return []
    }),
  )
}

export function containersErrors(context: ContainerContext, path: FieldPath): Errors {
  const containers = context.spec.containers ?? []
  if (containers.length === 0) return [required(path)]
  const names = new Set<string>()
  const errors = containers.flatMap((container, i) => {
    const at = path.index(i)
    const own = commonErrors(container, context, at)
    const name = container.name ?? ''
    if (names.has(name)) own.push(duplicate(at.child('name'), name))
    names.add(name)
    own.push(...hookErrors(container, context.spec, at), ...restartPolicyErrors(container, at))
    return own
  })
  return [...errors, ...hostPortErrors(containers, path)]
}

export function initContainersErrors(context: ContainerContext, path: FieldPath): Errors {
  const names = new Set((context.spec.containers ?? []).map(({ name = '' }) => name))
  return (context.spec.initContainers ?? []).flatMap((container, i) => {
    const at = path.index(i)
    const errors = commonErrors(container, context, at)
    errors.push(...initRestartPolicyErrors(container, at))
    const name = container.name ?? ''
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    else if (name !== '') names.add(name)
    errors.push(...hostPortErrors([container], path))
    if (container.restartPolicy === 'Always') errors.push(...hookErrors(container, context.spec, at))
    else errors.push(...sidecarOnlyErrors(container, at))
    return errors
  })
}

function sidecarOnlyErrors(container: Container, path: FieldPath): Errors {
  return [
    ...(['lifecycle', ...PROBES] as const)
      .filter((field) => container[field] !== undefined)
      .map((field) => forbidden(path.child(field), 'may not be set for init containers without restartPolicy=Always')),
    ...(container.resizePolicy ?? []).flatMap(({ restartPolicy }, i) =>
      restartPolicy === 'RestartContainer'
        ? [
            invalid(
              path.child('resizePolicy').index(i).child('restartPolicy'),
              restartPolicy,
              'not for init containers without restartPolicy=Always',
            ),
          ]
        : [],
    ),
  ]
}

const EPHEMERAL_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'image',
  'command',
  'args',
  'workingDir',
  'envFrom',
  'env',
  'volumeMounts',
  'volumeDevices',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'imagePullPolicy',
  'securityContext',
  'stdin',
  'stdinOnce',
  'tty',
  'targetContainerName',
])

export function ephemeralContainersErrors(context: ContainerContext, path: FieldPath): Errors {
  const { spec } = context
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name = '' }) => name))
  const names = new Set(others)
  return (spec.ephemeralContainers ?? []).flatMap((container, i) => {
    const at = path.index(i)
    const { name = '', targetContainerName = '', volumeMounts = [] } = container
    const errors = [...commonErrors(container, context, at), ...imageSpaceErrors(container, at)]
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    if (targetContainerName !== '' && !others.has(targetContainerName))
      errors.push(notFound(at.child('targetContainerName'), targetContainerName))
    const refused = (where: FieldPath) => forbidden(where, 'cannot be set for an Ephemeral Container')
    for (const [field, value] of Object.entries(container))
      if (!EPHEMERAL_FIELDS.has(field) && !isNothing(value)) errors.push(refused(at.child(field)))
    for (const [j, mount] of volumeMounts.entries())
      for (const field of ['subPath', 'subPathExpr'] as const)
        if ((mount[field] ?? '') !== '') errors.push(refused(at.child('volumeMounts').index(j).child(field)))
    return errors
  })
}

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)

/** Of pods alone: templates have been let through with spaces for too long. */
export const imageSpaceErrors = ({ image = '' }: Container, path: FieldPath): Errors =>
  image.trim() === image ? [] : [invalid(path.child('image'), image, 'must not have leading or trailing whitespace')]
