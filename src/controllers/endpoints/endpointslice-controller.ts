/**
 * Thread: controllers. Every service with a selector has EndpointSlices: the pods that it selects by family of addresses and by
 * set of ports, at most a hundred in a slice. A service that selects nobody has one that is empty.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Node, Service } from '../../api/generated/kinds/core.v1.js'
import type { Endpoint, EndpointPort, EndpointSlice } from '../../api/generated/kinds/discovery.v1.js'
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { Controller, ControllerContext } from '../framework/controller.js'
import { placeOf } from '../framework/seen-object.js'
import { type EndpointPod, findPort, hostnameIn, type IpFamily, isHeadless, isInEndpoints } from './endpoint-pod.js'
import { SelectedPods } from './selected-pods.js'
import { planSlices, portsKey, recycle, type SlicePlan } from './slice-plan.js'
import { MANAGED_BY, SERVICE_NAME, SliceWriter } from './slice-writer.js'
import { withHints } from './traffic-hints.js'
import { TRIGGER_TIME, TriggerTimes } from './trigger-times.js'

const MANAGER = 'endpointslice-controller.k8s.io'
const HEADLESS = 'service.kubernetes.io/headless'
const ZONE = 'topology.kubernetes.io/zone'
const RESERVED = new Set([SERVICE_NAME, MANAGED_BY, HEADLESS])

export const endpointSliceController: Controller = {
  name: 'endpointslice-controller',
  account: 'endpointslice-controller',
  eventSource: 'endpoint-slice-controller',
  requires: ['pods', 'services', 'nodes', 'endpointslices.discovery.k8s.io'],
  start(context) {
    const writer = new SliceWriter(context, MANAGER)
    const waiting = new Map<string, Set<string>>()
    const sync = new SliceSync(context, writer, waiting)
    const work = context.queue({ sync: (key) => sync.run(key), firstPauseMs: 1_000 })
    const pods = new SelectedPods(context, (key) => work.add(key))
    sync.pods = pods
    pods.follow()
    writer.follow((key) => work.add(key))
    context.follow(context.resource('nodes'), {
      // A node brings its pods into the endpoints, and its zone.
      onPut: (node, previous) => {
        const zone = node.labels.get(ZONE)
        if (previous !== undefined && previous.labels.get(ZONE) === zone) return
        for (const service of waiting.get(node.name) ?? []) work.add(service)
      },
      onDelete: (node) => {
        for (const service of waiting.get(node.name) ?? []) work.add(service)
      },
    })
  },
}

class SliceSync {
  readonly #context: ControllerContext
  readonly #services: ControlledResource
  readonly #nodes: ControlledResource
  readonly #writer: SliceWriter
  readonly #times = new TriggerTimes()
  /** Services by the names of the nodes that their pods are on: bounded by the pods that services select. */
  readonly #byNode: Map<string, Set<string>>
  readonly #nodesOf = new Map<string, Set<string>>()
  pods: SelectedPods | undefined

  constructor(context: ControllerContext, writer: SliceWriter, byNode: Map<string, Set<string>>) {
    this.#context = context
    this.#services = context.resource('services')
    this.#nodes = context.resource('nodes')
    this.#writer = writer
    this.#byNode = byNode
  }

  async run(key: string): Promise<void> {
    const service = await this.#context.objects.getLive<Service>(this.#services, placeOf(key))
    if (service === undefined) {
      this.#times.delete(key)
      this.#rememberNodes(key, new Set())
      // The slices have the service as their owner: the garbage collector takes them.
      return
    }
    // Slices of services without a selector are written by their owners.
    if (service.spec?.type === 'ExternalName' || service.spec?.selector === undefined) return
    const pods = (await this.pods?.of(service)) ?? []
    this.#rememberNodes(key, new Set(pods.map(({ nodeName }) => nodeName)))
    const existing = await this.#writer.of(key)
    const families = familiesOf(service)
    const time = this.#times.next(key, service, pods)
    const isOwn = (slice: EndpointSlice): boolean => isOwned(slice, service)
    for (const family of families) {
      const ofFamily = existing.filter(({ addressType }) => addressType === family)
      const plan = withHints(await this.#plan(service, pods, ofFamily, family), ofFamily, service)
      await this.#writer.carryOut(
        withTime(recycle(plan, isOwn), time),
        service.metadata?.deletionTimestamp !== undefined,
      )
    }
    const others = existing.filter(
      ({ addressType }) => !(families as readonly (string | undefined)[]).includes(addressType),
    )
    await this.#writer.carryOut({ create: [], update: [], remove: others }, false)
  }

  async #plan(
    service: Service,
    pods: readonly EndpointPod[],
    existing: readonly EndpointSlice[],
    family: IpFamily,
  ): Promise<SlicePlan> {
    const own = existing.filter((slice) => isOwned(slice, service))
    const plan: SlicePlan = { create: [], update: [], remove: existing.filter((slice) => !isOwned(slice, service)) }
    const wanted = await this.#wanted(service, pods, family)
    for (const [key, { ports, endpoints }] of wanted) {
      const ofPorts = own.filter((slice) => portsKey(slice.ports) === key)
      const adopt = (slice: EndpointSlice): EndpointSlice => withLabels(slice, service)
      const part = planSlices(ofPorts, { ports, endpoints }, adopt, () => newSlice(service, family, ports))
      plan.create.push(...part.create)
      plan.update.push(...part.update)
      plan.remove.push(...part.remove)
    }
    plan.remove.push(...own.filter((slice) => !wanted.has(portsKey(slice.ports))))
    if (existing.length > plan.remove.length || plan.create.length > 0) return plan
    // Somebody who watches the service's slices sees that it has none to offer.
    const empty = newSlice(service, family, [])
    const [kept] = plan.remove
    if (plan.remove.length === 1 && kept !== undefined && isSameEmpty(kept, empty, service)) plan.remove.pop()
    else plan.create.push(empty)
    return plan
  }

  async #wanted(
    service: Service,
    pods: readonly EndpointPod[],
    family: IpFamily,
  ): Promise<Map<string, { ports: EndpointPort[]; endpoints: Endpoint[] }>> {
    const wanted = new Map<string, { ports: EndpointPort[]; endpoints: Endpoint[] }>()
    for (const pod of pods) {
      if (!isInEndpoints(pod, true)) continue
      const ports = portsOf(service, pod)
      const key = portsKey(ports)
      const group = wanted.get(key) ?? { ports, endpoints: [] }
      wanted.set(key, group)
      const node = await this.#context.objects.get<Node>(this.#nodes, { namespace: '', name: pod.nodeName })
      // A pod on a node that is not there cannot be reached, unless the service wants it told anyway.
      if (node === undefined && service.spec?.publishNotReadyAddresses !== true) continue
      const endpoint = endpointOf(service, pod, node, family)
      if (endpoint !== undefined) group.endpoints.push(endpoint)
    }
    return wanted
  }

  #rememberNodes(key: string, nodes: Set<string>): void {
    for (const node of this.#nodesOf.get(key) ?? []) {
      const services = this.#byNode.get(node)
      services?.delete(key)
      if (services?.size === 0) this.#byNode.delete(node)
    }
    if (nodes.size === 0) this.#nodesOf.delete(key)
    else this.#nodesOf.set(key, nodes)
    for (const node of nodes) {
      const services = this.#byNode.get(node)
      if (services === undefined) this.#byNode.set(node, new Set([key]))
      else services.add(key)
    }
  }
}

function familiesOf({ spec }: Service): IpFamily[] {
  const families = (spec?.ipFamilies ?? []).filter((family): family is IpFamily => ['IPv4', 'IPv6'].includes(family))
  if (families.length > 0) return families
  const clusterIP = spec?.clusterIP ?? ''
  return clusterIP === '' || clusterIP === 'None' ? ['IPv4', 'IPv6'] : [clusterIP.includes(':') ? 'IPv6' : 'IPv4']
}

function portsOf({ spec }: Service, pod: EndpointPod): EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const port = findPort(pod, servicePort)
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    return port === undefined ? [] : [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }]
  })
}

function endpointOf(
  service: Service,
  pod: EndpointPod,
  node: Node | undefined,
  family: IpFamily,
): Endpoint | undefined {
  const addresses = pod.addresses.filter((address) => address.family === family).map(({ ip }) => ip)
  if (addresses.length === 0) return undefined
  const { name, namespace, uid, nodeName, isReady: serving, isTerminating: terminating } = pod
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const hostname = hostnameIn(pod, service)
  const zone = node?.metadata?.labels?.[ZONE] ?? ''
  return {
    addresses,
    conditions: { ready, serving, terminating },
    ...(hostname === '' ? {} : { hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(nodeName === '' ? {} : { nodeName }),
    ...(zone === '' ? {} : { zone }),
  }
}

const isOwned = ({ metadata }: EndpointSlice, service: Service): boolean =>
  (metadata?.ownerReferences ?? []).some(
    ({ uid, kind, apiVersion }) => uid === service.metadata?.uid && kind === 'Service' && apiVersion === 'v1',
  )

function labelsFor(service: Service): Record<string, string> {
  const own = Object.entries(service.metadata?.labels ?? {}).filter(([name]) => !RESERVED.has(name))
  return {
    ...Object.fromEntries(own),
    ...(isHeadless(service) ? { [HEADLESS]: '' } : {}),
    [SERVICE_NAME]: service.metadata?.name ?? '',
    [MANAGED_BY]: MANAGER,
  }
}

function withLabels(slice: EndpointSlice, service: Service): EndpointSlice {
  const labels = labelsFor(service)
  const isSame = isDeepStrictEqual({ ...slice.metadata?.labels }, labels)
  return isSame ? slice : { ...slice, metadata: { ...slice.metadata, labels } }
}

function newSlice(service: Service, addressType: IpFamily, ports: readonly EndpointPort[]): EndpointSlice {
  const { name = '', namespace = '', uid = '' } = service.metadata ?? {}
  return {
    metadata: {
      generateName: namePrefix(name),
      namespace,
      labels: labelsFor(service),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    addressType,
    ports: [...ports],
    endpoints: [],
  }
}

/** A dash between the name and what is generated, where there is room for it. */
export const namePrefix = (name: string): string => (name.length < 253 ? `${name}-` : name)

const isSameEmpty = (slice: EndpointSlice, empty: EndpointSlice, service: Service): boolean =>
  isOwned(slice, service) &&
  (slice.endpoints ?? []).length === 0 &&
  portsKey(slice.ports) === portsKey(empty.ports) &&
  slice.addressType === empty.addressType &&
  isDeepStrictEqual({ ...slice.metadata?.labels }, { ...empty.metadata?.labels })

function withTime({ create, update, remove }: SlicePlan, time: string): SlicePlan {
  const timed = (slice: EndpointSlice): EndpointSlice => {
    const { [TRIGGER_TIME]: _, ...annotations } = slice.metadata?.annotations ?? {}
    const told = time === '' ? annotations : { ...annotations, [TRIGGER_TIME]: time }
    return { ...slice, metadata: { ...slice.metadata, annotations: told } }
  }
  return { create: create.map(timed), update: update.map(timed), remove }
}
