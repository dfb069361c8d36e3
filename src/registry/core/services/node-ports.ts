/** Thread: pool. Which ports of nodes a service takes, keeps and gives up. Pure: the operation does the rest. */

import { FieldPath, invalid } from '../../../api/field-error.js'
import type { ServicePort, ServiceSpec } from '../../../api/generated/kinds/core.v1.js'
import { newInternalError, newInvalid, newUnknown } from '../../../api/status.js'
import { isAllocationError } from './allocator/allocation-error.js'
import type { PortOperation } from './allocator/port-operation.js'
import { needsHealthCheck } from './service.js'

const PORTS = FieldPath.of('spec', 'ports')

/** In the order of spec.ports; 0 where there is none. */
export interface NodePortPlan {
  readonly nodePorts: readonly number[]
  readonly healthCheckNodePort: number
}

export const hasNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer'

const allocates = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts === true)

export const nodePortsOf = ({ ports = [] }: ServiceSpec): number[] =>
  ports.map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0)

export function applyPlan(spec: ServiceSpec, { nodePorts, healthCheckNodePort }: NodePortPlan): void {
  for (const [i, port] of (spec.ports ?? []).entries()) if (nodePorts[i]) port.nodePort = nodePorts[i]
  if (healthCheckNodePort !== 0) spec.healthCheckNodePort = healthCheckNodePort
}

export function planCreate(name: string, spec: ServiceSpec, operation: PortOperation): NodePortPlan {
  return {
    nodePorts: hasNodePorts(spec) ? planPorts(name, spec, operation) : [],
    healthCheckNodePort: needsHealthCheck(spec) ? planHealthCheck(spec, operation) : 0,
  }
}

/** Ports of one number and several protocols share a port of the node. */
function planPorts(name: string, spec: ServiceSpec, operation: PortOperation): number[] {
  const { ports = [] } = spec
  const byPort = new Map<number, number>()
  return ports.map(({ port = 0, nodePort = 0 }, i) => {
    if (nodePort === 0 && !allocates(spec)) return 0
    const shared = byPort.get(port) ?? 0
    if (shared === 0) {
      const requested = requestedFor(port, ports)
      const given = requested === 0 ? takeNext(operation) : requested
      if (requested !== 0) take(name, requested, i, operation)
      byPort.set(port, given)
      return given
    }
    if (nodePort === 0) return shared
    if (nodePort !== shared) take(name, nodePort, i, operation)
    return nodePort
  })
}

const requestedFor = (number: number, ports: readonly ServicePort[]): number =>
  ports.find(({ port = 0, nodePort = 0 }) => port === number && nodePort !== 0)?.nodePort ?? 0

function take(name: string, nodePort: number, i: number, operation: PortOperation): void {
  try {
    operation.take(nodePort)
  } catch (error) {
    if (!isAllocationError(error)) throw error
    throw newInvalid({ group: '', kind: 'Service' }, name, [
      invalid(PORTS.index(i).child('nodePort'), nodePort, error.message),
    ])
  }
}

function takeNext(operation: PortOperation): number {
  try {
    return operation.takeNext()
  } catch (error) {
    if (!isAllocationError(error)) throw error
    throw newInternalError(`failed to allocate a nodePort: ${error.message}`)
  }
}

function planHealthCheck({ healthCheckNodePort: requested = 0 }: ServiceSpec, operation: PortOperation): number {
  try {
    if (requested === 0) return operation.takeNext()
    operation.take(requested)
    return requested
  } catch (error) {
    if (!isAllocationError(error)) throw error
    const what = requested === 0 ? 'a HealthCheck NodePort' : 'requested HealthCheck NodePort'
    throw newInternalError(`failed to allocate ${what} ${requested}: ${error.message}`)
  }
}

export interface NodePortUpdatePlan extends NodePortPlan {
  /** Given back once the update is stored. */
  readonly released: readonly number[]
}

export function planUpdate(
  name: string,
  spec: ServiceSpec,
  old: ServiceSpec,
  operation: PortOperation,
): NodePortUpdatePlan {
  const released: number[] = []
  const before = nodePortsOf(old)
  if (hasNodePorts(old) && !hasNodePorts(spec)) released.push(...before)
  const nodePorts = hasNodePorts(spec) ? planChangedPorts(name, spec, new Set(before), operation) : []
  if (hasNodePorts(spec)) {
    const now = new Set([...nodePortsOf(spec), ...nodePorts])
    released.push(...before.filter((port) => !now.has(port)))
  }
  const [needed, needs] = [needsHealthCheck(old), needsHealthCheck(spec)]
  if (needed && !needs && old.healthCheckNodePort) released.push(old.healthCheckNodePort)
  return { nodePorts, released, healthCheckNodePort: needs && !needed ? planHealthCheck(spec, operation) : 0 }
}

function planChangedPorts(
  name: string,
  spec: ServiceSpec,
  before: ReadonlySet<number>,
  operation: PortOperation,
): number[] {
  const taken = new Set<number>()
  const seen = new Set<string>()
  return (spec.ports ?? []).map(({ nodePort = 0, protocol = '' }, i) => {
    if (nodePort === 0 && !allocates(spec)) return 0
    const given = nodePort === 0 ? takeNext(operation) : nodePort
    if (nodePort !== 0 && !before.has(nodePort) && !taken.has(nodePort)) {
      take(name, nodePort, i, operation)
      taken.add(nodePort)
    }
    const key = `${protocol}/${given}`
    if (seen.has(key)) throw newUnknown(`duplicate nodePort: {${protocol} ${given}}`)
    seen.add(key)
    return given
  })
}

/** The plan when it takes nothing: most updates, and services that are not seen from outside. */
export function planWithoutTaking<T>(plan: (operation: PortOperation) => T): T | undefined {
  const refuse = (): never => {
    throw new TakesPorts()
  }
  try {
    return plan({ take: refuse, takeNext: refuse })
  } catch (error) {
    if (error instanceof TakesPorts) return undefined
    throw error
  }
}

class TakesPorts extends Error {}
