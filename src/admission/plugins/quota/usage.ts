/** Thread: any. What one object uses of the things that quotas count. */

import type { Container, PersistentVolumeClaim, Pod, Service } from '../../../api/generated/kinds/core.v1.js'
import type { ResourceClaim } from '../../../api/generated/kinds/resource.v1.js'
import { formatGroupResource, type GroupResource, parseGroupResource } from '../../../api/group-version.js'
import type { KubeObject } from '../../../api/object.js'
import { parseQuantity, Quantity } from '../../../api/quantity.js'
import { podAmounts } from '../pod.js'
import { ONE, type Usage } from './quota.js'

/** Resources of the core group that may be counted by their name alone, without `count/`. */
const BY_NAME: ReadonlySet<string> = new Set([
  'configmaps',
  'persistentvolumeclaims',
  'pods',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'services',
])
const COMPUTE: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage'])
const OF_STORAGE_CLASS = '.storageclass.storage.k8s.io/'
const OF_DEVICE_CLASS = '.deviceclass.resource.k8s.io/devices'
/** The amounts that a container must state as soon as a quota counts them: else nobody knows what it will take. */
const MUST_STATE: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
)

export function usageOfObject(resource: GroupResource, object: KubeObject): Usage {
  const usage = new Map<string, Quantity>([[`count/${formatGroupResource(resource)}`, ONE]])
  if (resource.group === 'resource.k8s.io' && resource.resource === 'resourceclaims') addDevices(usage, object)
  if (resource.group !== '') return usage
  const { resource: name } = resource
  if (BY_NAME.has(name) && name !== 'pods') usage.set(name, ONE)
  if (name === 'pods') addPod(usage, object)
  if (name === 'services') addService(usage, object)
  if (name === 'persistentvolumeclaims') addClaim(usage, object)
  return usage
}

/** A pod that has ended uses its name and nothing else. */
export const hasEnded = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed'

function addPod(usage: Map<string, Quantity>, pod: Pod): void {
  if (hasEnded(pod)) return
  usage.set('pods', ONE)
  for (const [name, amount] of podAmounts(pod.spec ?? {}, 'requests')) addRequest(usage, name, amount)
  for (const [name, amount] of podAmounts(pod.spec ?? {}, 'limits'))
    if (COMPUTE.has(name)) usage.set(`limits.${name}`, amount)
}

function addRequest(usage: Map<string, Quantity>, name: string, amount: Quantity): void {
  usage.set(`requests.${name}`, amount)
  if (COMPUTE.has(name) || name.startsWith('hugepages-')) usage.set(name, amount)
}

function addService(usage: Map<string, Quantity>, { spec }: Service): void {
  const { type, ports, allocateLoadBalancerNodePorts } = spec ?? {}
  if (type === 'LoadBalancer') usage.set('services.loadbalancers', ONE)
  const balanced = type === 'LoadBalancer' && allocateLoadBalancerNodePorts === false
  const counted = (ports ?? []).filter(({ nodePort = 0 }) => !balanced || nodePort !== 0)
  if (type === 'NodePort' || type === 'LoadBalancer')
    usage.set('services.nodeports', Quantity.ofInteger(counted.length))
}

function addClaim(usage: Map<string, Quantity>, { metadata, spec, status }: PersistentVolumeClaim): void {
  const beta = metadata?.annotations?.['volume.beta.kubernetes.io/storage-class']
  const className = beta ?? spec?.storageClassName ?? ''
  if (className !== '') usage.set(`${className}${OF_STORAGE_CLASS}persistentvolumeclaims`, ONE)
  const wanted = spec?.resources?.requests?.['storage']
  if (wanted === undefined) return
  // A volume that shrinks back after a failed growth still holds what it was given.
  const [asked, given] = [parseQuantity(wanted), parseQuantity(status?.allocatedResources?.['storage'] ?? '0')]
  const amount = given.compare(asked) > 0 ? given : asked
  usage.set('requests.storage', amount)
  if (className !== '') usage.set(`${className}${OF_STORAGE_CLASS}requests.storage`, amount)
}

/**
 * The devices that a request for `All` counts as: as many as one claim can hold. Of alternatives the largest counts,
 * since only one is taken.
 */
const MAX_DEVICES = Quantity.ofInteger(32)

function addDevices(usage: Map<string, Quantity>, { spec }: ResourceClaim): void {
  for (const { exactly, firstAvailable = [] } of spec?.devices?.requests ?? []) {
    const most = new Map<string, Quantity>()
    for (const { deviceClassName = '', allocationMode, count = 1 } of exactly ? [exactly] : firstAvailable) {
      const amount = allocationMode === 'All' ? MAX_DEVICES : Quantity.ofInteger(count)
      const known = most.get(deviceClassName)
      if (known === undefined || known.compare(amount) < 0) most.set(deviceClassName, amount)
    }
    for (const [className, amount] of most) {
      const name = `${className}${OF_DEVICE_CLASS}`
      usage.set(name, usage.get(name)?.add(amount) ?? amount)
    }
  }
}

/** What the containers of a pod do not state although a quota counts it: `limits.cpu for: a,b`. */
export function unstated({ spec = {} }: Pod, hard: Readonly<Record<string, string>>): string[] {
  const required = Object.keys(hard).filter((name) => MUST_STATE.has(name))
  const states = ({ resources }: Pick<Container, 'resources'>, name: string): boolean => {
    const [side, resource] = name.includes('.') ? (name.split('.') as [string, string]) : ['requests', name]
    return resources?.[side === 'limits' ? 'limits' : 'requests']?.[resource] !== undefined
  }
  return required
    .filter((name) => spec.resources === undefined || !states({ resources: spec.resources }, name))
    .map((name) => {
      const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
      return { name, missing: containers.filter((container) => !states(container, name)).map((one) => one.name ?? '') }
    })
    .filter(({ missing }) => missing.length > 0)
    .map(({ name, missing }) => `${name} for: ${missing.sort().join(',')}`)
}

/** The resource whose objects a name of a quota counts; undefined for a name that counts no objects. */
export function resourceBehind(name: string): GroupResource | undefined {
  if (name.startsWith('count/')) return parseGroupResource(name.slice('count/'.length))
  if (BY_NAME.has(name)) return { group: '', resource: name }
  if (name.startsWith('services.')) return { group: '', resource: 'services' }
  if (name === 'requests.storage' || name.includes(OF_STORAGE_CLASS))
    return { group: '', resource: 'persistentvolumeclaims' }
  if (name.endsWith(OF_DEVICE_CLASS)) return { group: 'resource.k8s.io', resource: 'resourceclaims' }
  if (COMPUTE.has(name) || /^(?:requests\.|limits\.|hugepages-)/.test(name)) return { group: '', resource: 'pods' }
  return undefined
}
