/**
 * Thread: controllers. Endpoints that people write for services without a selector are mirrored to EndpointSlices: one for each
 * subset and family of addresses. When the service gets a selector, or the Endpoints go, the slices go.
 */
import { isDeepStrictEqual } from 'node:util'
import type { EndpointAddress, EndpointSubset, Endpoints, Service } from '../../api/generated/kinds/core.v1.js'
import type { Endpoint, EndpointPort, EndpointSlice } from '../../api/generated/kinds/discovery.v1.js'
import type { ControlledResource } from '../framework/controlled-resource.js'
import type { Controller, ControllerContext } from '../framework/controller.js'
import { placeOf } from '../framework/seen-object.js'
import { addressOf, type IpFamily } from './endpoint-pod.js'
import { LEADER } from './endpoints-controller.js'
import { namePrefix } from './endpointslice-controller.js'
import { portsKey, recycle, type SlicePlan } from './slice-plan.js'
import { MANAGED_BY, SERVICE_NAME, SliceWriter } from './slice-writer.js'
import { repackSubsets } from './subsets.js'
import { TRIGGER_TIME } from './trigger-times.js'

const MANAGER = 'endpointslicemirroring-controller.k8s.io'
const SKIP = 'endpointslice.kubernetes.io/skip-mirror'
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
/** kube-controller-manager's --mirroring-max-endpoints-per-subset. */
const MAX_PER_SUBSET = 1_000

export const endpointSliceMirroringController: Controller = {
  name: 'endpointslice-mirroring-controller',
  account: 'endpointslicemirroring-controller',
  eventSource: 'endpoint-slice-mirroring-controller',
  requires: ['services', 'endpoints', 'endpointslices.discovery.k8s.io'],
  start(context) {
    const writer = new SliceWriter(context, MANAGER)
    const mirror = new Mirror(context, writer)
    const work = context.queue({ sync: (key) => mirror.run(key) })
    const look = ({ key }: { readonly key: string }): void => work.add(key)
    context.follow(context.resource('endpoints'), { onPut: look, onDelete: look })
    context.follow(context.resource('services'), { onPut: look, onDelete: look })
    writer.follow((key) => work.add(key))
  },
}

interface Wanted {
  readonly family: IpFamily
  readonly ports: EndpointPort[]
  readonly endpoints: Endpoint[]
}

class Mirror {
  readonly #context: ControllerContext
  readonly #services: ControlledResource
  readonly #endpoints: ControlledResource
  readonly #writer: SliceWriter

  constructor(context: ControllerContext, writer: SliceWriter) {
    this.#context = context
    this.#services = context.resource('services')
    this.#endpoints = context.resource('endpoints')
    this.#writer = writer
  }

  async run(key: string): Promise<void> {
    const { objects } = this.#context
    const existing = await this.#writer.of(key)
    const endpoints = await objects.getLive<Endpoints>(this.#endpoints, placeOf(key))
    const service =
      endpoints !== undefined && isMirrored(endpoints)
        ? await objects.get<Service>(this.#services, placeOf(key))
        : undefined
    if (endpoints === undefined || service === undefined || service.spec?.selector !== undefined) {
      await this.#writer.carryOut({ create: [], update: [], remove: existing }, false)
      return
    }
    const plan = this.#plan(endpoints, existing)
    await this.#writer.carryOut(recycleByFamily(plan), endpoints.metadata?.deletionTimestamp !== undefined)
  }

  #plan(endpoints: Endpoints, existing: readonly EndpointSlice[]): SlicePlan {
    const wanted = this.#wanted(endpoints)
    const plan: SlicePlan = { create: [], update: [], remove: [] }
    const metadata = metadataFor(endpoints)
    const left = new Map<string, EndpointSlice[]>()
    for (const slice of existing) {
      const key = `${slice.addressType} ${portsKey(slice.ports)}`
      left.set(key, [...(left.get(key) ?? []), slice])
    }
    for (const [key, { family, ports, endpoints: list }] of wanted) {
      const [first, ...others] = left.get(key) ?? []
      left.delete(key)
      plan.remove.push(...others)
      const slice = { metadata, addressType: family, ports, endpoints: list }
      if (first === undefined) plan.create.push(slice)
      else if (!isRight(first, slice)) {
        const { generateName: _, ...rest } = metadata
        const { name = '', resourceVersion = '' } = first.metadata ?? {}
        plan.update.push({ ...slice, metadata: { ...rest, name, resourceVersion } })
      }
    }
    for (const slices of left.values()) plan.remove.push(...slices)
    return plan
  }

  #wanted(endpoints: Endpoints): Map<string, Wanted> {
    const wanted = new Map<string, Wanted>()
    let [invalid, skipped] = [0, 0]
    for (const subset of repackSubsets(endpoints.subsets ?? [])) {
      const ports = portsOf(subset)
      let added = 0
      for (const [address, ready] of addressesOf(subset)) {
        if (added >= MAX_PER_SUBSET) {
          skipped++
          continue
        }
        const [found] = addressOf(address.ip ?? '')
        if (found === undefined) {
          invalid++
          continue
        }
        added++
        const key = `${found.family} ${portsKey(ports)}`
        const group = wanted.get(key) ?? { family: found.family, ports, endpoints: [] }
        wanted.set(key, group)
        group.endpoints.push(endpointOf(address, found.ip, ready))
      }
    }
    this.#tell(endpoints, invalid, skipped)
    return wanted
  }

  #tell(object: Endpoints, invalid: number, skipped: number): void {
    const subject = { resource: this.#endpoints, object }
    const { events } = this.#context
    if (invalid > 0) {
      const text = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`
      events.record(subject, 'Warning', 'InvalidIPAddress', text)
    }
    if (skipped > 0) {
      const text = `A max of ${MAX_PER_SUBSET} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`
      events.record(subject, 'Warning', 'TooManyAddressesToMirror', text)
    }
  }
}

const isMirrored = ({ metadata }: Endpoints): boolean =>
  metadata?.labels?.[SKIP] !== 'true' && metadata?.annotations?.[LEADER] === undefined

/** The family of a slice cannot change: only slices of one family are used again for each other. */
function recycleByFamily({ create, update, remove }: SlicePlan): SlicePlan {
  const families = [...new Set([...create, ...update, ...remove].map(({ addressType }) => addressType))]
  const parts = families.map((family) => {
    const ofFamily = ({ addressType }: EndpointSlice): boolean => addressType === family
    const part = { create: create.filter(ofFamily), update: update.filter(ofFamily), remove: remove.filter(ofFamily) }
    return recycle(part, () => true)
  })
  return {
    create: parts.flatMap((part) => part.create),
    update: parts.flatMap((part) => part.update),
    remove: parts.flatMap((part) => part.remove),
  }
}

function metadataFor({ metadata }: Endpoints): NonNullable<EndpointSlice['metadata']> {
  const { name = '', namespace = '', uid = '', labels = {} } = metadata ?? {}
  const { [TRIGGER_TIME]: _, [LAST_APPLIED]: __, ...annotations } = metadata?.annotations ?? {}
  return {
    generateName: namePrefix(name),
    namespace,
    labels: { ...labels, [SERVICE_NAME]: name, [MANAGED_BY]: MANAGER },
    annotations,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Endpoints', name, uid, controller: true, blockOwnerDeletion: true }],
  }
}

const portsOf = ({ ports = [] }: EndpointSubset): EndpointPort[] =>
  ports.map(({ name = '', port = 0, protocol = 'TCP', appProtocol }) => ({
    name,
    port,
    protocol,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }))

const addressesOf = ({ addresses = [], notReadyAddresses = [] }: EndpointSubset): [EndpointAddress, boolean][] => [
  ...addresses.map((address): [EndpointAddress, boolean] => [address, true]),
  ...notReadyAddresses.map((address): [EndpointAddress, boolean] => [address, false]),
]

const endpointOf = ({ hostname, nodeName, targetRef }: EndpointAddress, ip: string, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname === undefined ? {} : { hostname }),
  ...(targetRef === undefined ? {} : { targetRef }),
  ...(nodeName === undefined ? {} : { nodeName }),
})

/** Addresses in another order are the same content. */
function isRight({ metadata, endpoints }: EndpointSlice, wanted: EndpointSlice): boolean {
  const sorted = (list: readonly Endpoint[] | null | undefined): string[] =>
    (list ?? []).map((endpoint) => JSON.stringify([endpoint.addresses, canonical(endpoint)])).sort()
  return (
    isDeepStrictEqual(sorted(endpoints), sorted(wanted.endpoints)) &&
    isDeepStrictEqual({ ...metadata?.labels }, { ...wanted.metadata?.labels }) &&
    isDeepStrictEqual({ ...metadata?.annotations }, { ...wanted.metadata?.annotations }) &&
    metadata?.ownerReferences?.[0]?.uid === wanted.metadata?.ownerReferences?.[0]?.uid
  )
}

const canonical = ({ conditions, hostname, nodeName, targetRef }: Endpoint): unknown[] => [
  conditions?.ready,
  hostname,
  nodeName,
  targetRef?.kind,
  targetRef?.namespace,
  targetRef?.name,
  targetRef?.uid,
]
