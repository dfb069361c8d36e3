/** Thread: any. Defaults of a pod's spec. */
import type { Container, PodSpec, PodTemplateSpec } from '../../../api/generated/kinds/core.v1.js'
import { setContainerDefaults } from './container.js'
import { setResourceDefaults, setResourceListDefaults } from './resources.js'
import { setVolumeDefaults } from './volume.js'

const GRACE_PERIOD_SECONDS = 30

/** The defaults that a pod has in a template too. */
export function setPodSpecDefaults(spec: PodSpec): void {
  if ((spec.serviceAccountName ?? '') === '' && (spec.serviceAccount ?? '') !== '')
    spec.serviceAccountName = spec.serviceAccount!
  if ((spec.serviceAccountName ?? '') !== '') spec.serviceAccount = spec.serviceAccountName!
  spec.dnsPolicy ||= 'ClusterFirst'
  spec.restartPolicy ||= 'Always'
  spec.securityContext ??= {}
  spec.terminationGracePeriodSeconds ??= GRACE_PERIOD_SECONDS
  spec.schedulerName ||= 'default-scheduler'
  for (const volume of spec.volumes ?? []) setVolumeDefaults(volume)
  for (const list of [spec.initContainers, spec.containers, spec.ephemeralContainers])
    for (const container of list ?? []) setContainerDefaults(container)
  setResourceListDefaults(spec.overhead)
  setResourceDefaults(spec.resources)
}

export function setTemplateDefaults(template: PodTemplateSpec): void {
  template.spec ??= {}
  setPodSpecDefaults(template.spec)
}

/** On the host's network a container's port is the host's. */
function setHostPorts(containers: readonly Container[]): void {
  for (const { ports = [] } of containers)
    for (const port of ports) if ((port.hostPort ?? 0) === 0 && port.containerPort) port.hostPort = port.containerPort
}

/** The defaults of pods themselves: what is limited is requested, too. */
export function setPodDefaults(spec: PodSpec): void {
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1
  for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    if (resources?.limits === undefined) continue
    const requests = { ...resources.limits, ...resources.requests }
    if (Object.keys(requests).length > 0) resources.requests = requests
  }
  spec.enableServiceLinks ??= true
  if (spec.hostNetwork === true) setHostPorts([...(spec.containers ?? []), ...(spec.initContainers ?? [])])
}
