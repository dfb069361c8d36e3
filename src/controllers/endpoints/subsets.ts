/**
 * Thread: controllers. The subsets of Endpoints in one canonical form: an address stands once for each set of ports, ports that
 * have the same addresses stand together, and everything has one order, so that equal content is equal data.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../api/generated/kinds/core.v1.js'

/** An Endpoints object holds no more addresses; EndpointSlices are there for more. */
const MAX_ADDRESSES = 1_000

interface PlacedAddress {
  readonly address: EndpointAddress
  isReady: boolean
}

interface PortAddresses {
  /** Undefined stands for endpoints without any port. */
  readonly port: EndpointPort | undefined
  readonly addresses: Map<string, PlacedAddress>
}

export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const byPort = new Map<string, PortAddresses>()
  for (const subset of subsets) {
    const ports = subset.ports?.length ? subset.ports : [undefined]
    for (const port of ports) collect(byPort, port, subset)
  }
  const byAddresses = new Map<string, { addresses: PlacedAddress[]; ports: EndpointPort[] }>()
  for (const { port, addresses } of byPort.values()) {
    const sorted = [...addresses].sort(([a], [b]) => compare(a, b))
    const key = JSON.stringify([port === undefined, sorted.map(([id, { isReady }]) => [id, isReady])])
    const group = byAddresses.get(key) ?? { addresses: sorted.map(([, placed]) => placed), ports: [] }
    byAddresses.set(key, group)
    if (port !== undefined) group.ports.push(port)
  }
  return [...byAddresses]
    .sort(([a], [b]) => compare(a, b))
    .map(([, { addresses, ports }]) => {
      const ready = addresses.filter(({ isReady }) => isReady).map(({ address }) => address)
      const notReady = addresses.filter(({ isReady }) => !isReady).map(({ address }) => address)
      return {
        ...(ready.length > 0 ? { addresses: ready } : {}),
        ...(notReady.length > 0 ? { notReadyAddresses: notReady } : {}),
        ...(ports.length > 0 ? { ports: ports.sort((a, b) => compare(portKey(a), portKey(b))) } : {}),
      }
    })
}

function collect(byPort: Map<string, PortAddresses>, port: EndpointPort | undefined, subset: EndpointSubset): void {
  const key = port === undefined ? '' : portKey(port)
  const group = byPort.get(key) ?? { port, addresses: new Map<string, PlacedAddress>() }
  byPort.set(key, group)
  const put = (address: EndpointAddress, isReady: boolean): void => {
    const id = JSON.stringify([address.ip, address.targetRef?.uid ?? ''])
    const known = group.addresses.get(id)
    // An address that is ready by one account and not by another is ready.
    if (known === undefined) group.addresses.set(id, { address, isReady })
    else known.isReady ||= isReady
  }
  for (const address of subset.addresses ?? []) put(address, true)
  for (const address of subset.notReadyAddresses ?? []) put(address, false)
}

const portKey = ({ name = '', port = 0, protocol = '', appProtocol = '' }: EndpointPort): string =>
  JSON.stringify([name, port, protocol, appProtocol])

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** At most MAX_ADDRESSES, ready ones first, of each subset in proportion. Undefined when nothing had to go. */
export function truncateSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] | undefined {
  const ready = sum(subsets, 'addresses')
  const notReady = sum(subsets, 'notReadyAddresses')
  if (ready + notReady <= MAX_ADDRESSES) return undefined
  const isReadyCut = ready > MAX_ADDRESSES
  const [side, total] = isReadyCut ? (['addresses', ready] as const) : (['notReadyAddresses', notReady] as const)
  const room = isReadyCut ? MAX_ADDRESSES : MAX_ADDRESSES - ready
  let left = room
  return subsets.map((subset) => {
    const addresses = subset[side] ?? []
    const kept = addresses.slice(0, Math.min(left, Math.ceil((addresses.length / total) * room)))
    left -= kept.length
    const { addresses: all, notReadyAddresses: _, ports } = subset
    const cut = kept.length > 0 ? { [side]: kept } : {}
    return {
      ...(isReadyCut || all === undefined ? {} : { addresses: all }),
      ...cut,
      ...(ports === undefined ? {} : { ports }),
    }
  })
}

const sum = (subsets: readonly EndpointSubset[], side: 'addresses' | 'notReadyAddresses'): number =>
  subsets.reduce((count, subset) => count + (subset[side]?.length ?? 0), 0)
