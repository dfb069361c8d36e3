/** Thread: any. Resources of a pod as a whole: sums over containers, what a pod asks for by itself, its quality of service. */

import { type Amounts, addAmounts, raiseAmounts } from '../../../api/amounts.js'
import { type FieldPath, forbidden, invalid } from '../../../api/field-error.js'
import type { Container, PodSpec } from '../../../api/generated/kinds/core.v1.js'
import { parseQuantity } from '../../../api/quantity.js'
import type { ResourceList } from '../../../api/scalar-types.js'
import type { Errors } from '../../../api/validation/checks.js'
import {
  isHugePages,
  isOvercommitAllowed,
  isPodLevelResource,
  podResourceNameErrors,
  resourceErrors,
} from './resources.js'

type Side = 'requests' | 'limits'

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always'

/** What all containers need at once: those that run together summed, and never less than one that runs before them. */
export function aggregate(spec: PodSpec, side: Side): Amounts {
  const sums: Amounts = new Map()
  for (const { resources } of spec.containers ?? []) addAmounts(sums, resources?.[side])
  const sidecars: Amounts = new Map()
  const before: Amounts = new Map()
  for (const container of spec.initContainers ?? []) {
    const own = container.resources?.[side]
    if (isSidecar(container)) {
      addAmounts(sums, own)
      addAmounts(sidecars, own)
      raiseAmounts(before, sidecars)
    } else {
      const together: Amounts = new Map(sidecars)
      addAmounts(together, own)
      raiseAmounts(before, together)
    }
  }
  raiseAmounts(sums, before)
  return sums
}

/** A pod that states some resources gets the others from its containers. */
export function setPodLevelDefaults(spec: PodSpec): void {
  const { resources } = spec
  if (resources === undefined) return
  const given = Object.keys(resources.requests ?? {}).length + Object.keys(resources.limits ?? {}).length
  if (given === 0) return
  const limits = { ...resources.limits }
  const requests = { ...resources.requests }
  const has = (list: ResourceList, name: string): boolean => Object.hasOwn(list, name)
  for (const [name, amount] of aggregate(spec, 'limits')) {
    if (isHugePages(name) && !has(requests, name) && !has(limits, name)) limits[name] = amount.toString()
  }
  for (const [name, amount] of aggregate(spec, 'requests')) {
    if (isPodLevelResource(name) && isOvercommitAllowed(name) && !has(requests, name))
      requests[name] = amount.toString()
  }
  for (const [name, amount] of Object.entries(limits)) {
    if (isPodLevelResource(name) && !has(requests, name)) requests[name] = amount
  }
  if (Object.keys(limits).length > 0) resources.limits = limits
  if (Object.keys(requests).length > 0) resources.requests = requests
}

export function podResourcesErrors(spec: PodSpec, podClaims: ReadonlySet<string>, path: FieldPath): Errors {
  const { resources } = spec
  if (resources === undefined) return []
  if (spec.os?.name === 'windows') return [forbidden(path, 'may not be set for a windows pod')]
  const { requests = {}, limits = {} } = resources
  const errors: Errors = []
  if (resources.claims !== undefined)
    errors.push(forbidden(path.child('claims'), 'claims may not be set for Resources at pod-level'))
  errors.push(...resourceErrors(resources, podResourceNameErrors, podClaims, path))
  for (const [name, sum] of aggregate(spec, 'requests')) {
    if (Object.hasOwn(requests, name) && sum.compare(parseQuantity(requests[name]!)) > 0)
      errors.push(
        invalid(path.child('requests').key(name), requests[name], `is less than what the containers request: ${sum}`),
      )
  }
  for (const [name, sum] of aggregate(spec, 'limits')) {
    if (isHugePages(name) && Object.hasOwn(limits, name) && sum.compare(parseQuantity(limits[name]!)) > 0)
      errors.push(
        invalid(path.child('limits').key(name), limits[name], `is less than the limits of the containers: ${sum}`),
      )
  }
  for (const [i, container] of (spec.containers ?? []).entries()) {
    for (const [name, amount] of Object.entries(container.resources?.limits ?? {})) {
      if (Object.hasOwn(limits, name) && parseQuantity(amount).compare(parseQuantity(limits[name]!)) > 0)
        errors.push(
          invalid(
            path.child('containers').index(i).key(name).child('limits'),
            amount,
            `is more than the pod's limit of ${limits[name]}`,
          ),
        )
    }
  }
  return errors
}

const QOS_RESOURCES = ['cpu', 'memory'] as const

/** Only cpu and memory count, and only amounts above zero. */
function qosAmounts(lists: readonly (ResourceList | undefined)[]): Amounts {
  const sums: Amounts = new Map()
  for (const list of lists) {
    for (const name of QOS_RESOURCES) {
      const amount = list?.[name] === undefined ? undefined : parseQuantity(list[name])
      if (amount !== undefined && amount.sign > 0) sums.set(name, sums.get(name)?.add(amount) ?? amount)
    }
  }
  return sums
}

export function qosClass(spec: PodSpec): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const holders = spec.resources === undefined ? containersOf(spec).map(({ resources }) => resources) : [spec.resources]
  const requests = qosAmounts(holders.map((holder) => holder?.requests))
  const limits = qosAmounts(holders.map((holder) => holder?.limits))
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  const limited = holders.every((holder) => {
    if (spec.resources !== undefined && Object.keys(holder?.limits ?? {}).length === 0) return true
    return qosAmounts([holder?.limits]).size === QOS_RESOURCES.length
  })
  const equal = [...requests].every(([name, amount]) => limits.get(name)?.equals(amount) === true)
  return limited && equal && requests.size === limits.size ? 'Guaranteed' : 'Burstable'
}

const containersOf = (spec: PodSpec): Container[] => [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
