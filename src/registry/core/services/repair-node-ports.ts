/**
 * Thread: pool. Brings the bitmap of node ports in line with the services. A port that no service has is given back
 * only when several passes have seen it so: its service may be on the way. Makes the bitmap when there is none.
 */

import type { RangeAllocation, Service } from '../../../api/generated/kinds/core.v1.js'
import {
  formatPortRange,
  type PortRange,
  parsePortRange,
  portBand,
  portIndex,
} from '../../../api/network/port-range.js'
import type { KubeObject } from '../../../api/object.js'
import type { Logger } from '../../../lib/logger.js'
import type { Storage } from '../../../storage/contract/interface.js'
import { AllocationBitmap } from './allocator/allocation-bitmap.js'
import { NODE_PORTS_KEY } from './allocator/node-port-allocator.js'

/** So many passes see a leak before it is cleaned up. */
const PASSES_BEFORE_CLEANUP = 3
/** Others allocate meanwhile; the next pass comes in a few minutes anyway. */
const MAX_ATTEMPTS = 5

/** Ports that seem to belong to nobody, and how many passes more they are kept. */
export type PortLeaks = ReadonlyMap<number, number>

export interface RepairNodePortsOptions {
  readonly storage: Storage<KubeObject>
  readonly range: PortRange
  readonly services: () => Promise<readonly Service[]>
  readonly logger: Logger
}

export class RepairNodePorts {
  readonly #options: RepairNodePortsOptions

  constructor(options: RepairNodePortsOptions) {
    this.#options = options
  }

  /** Gives the leaks that the next pass has to know. */
  async runOnce(leaks: PortLeaks): Promise<PortLeaks> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(leaks)
      } catch (error) {
        if (!(error instanceof Overtaken) || attempt === MAX_ATTEMPTS) throw error
      }
    }
  }

  async #attempt(leaks: PortLeaks): Promise<PortLeaks> {
    const { storage, range } = this.#options
    const stored: RangeAllocation = await storage.get(NODE_PORTS_KEY, { ignoreNotFound: true })
    const version = storage.versioner.objectResourceVersion(stored)
    const rebuilt = new AllocationBitmap(range.size, portBand(range))
    const used = new Set<number>()
    for (const service of await this.#options.services())
      for (const port of portsOf(service)) {
        used.add(port)
        this.#take(rebuilt, port, service)
      }
    const next = this.#keepLeaks(portsIn(stored, range), used, leaks, rebuilt)
    await storage.guaranteedUpdate(
      NODE_PORTS_KEY,
      (existing) => {
        if (storage.versioner.objectResourceVersion(existing) !== version) throw new Overtaken()
        return {
          object: {
            ...existing,
            apiVersion: 'v1',
            kind: 'RangeAllocation',
            range: formatPortRange(range),
            data: Buffer.from(rebuilt.toBytes()).toString('base64'),
          },
        }
      },
      { ignoreNotFound: true },
    )
    return next
  }

  #take(rebuilt: AllocationBitmap, port: number, { metadata }: Service): void {
    const { range, logger } = this.#options
    const { namespace, name } = metadata ?? {}
    const index = portIndex(range, port)
    if (index === undefined) logger.warn({ namespace, name, port }, 'a node port is out of range; recreate the service')
    else if (!rebuilt.take(index))
      logger.warn({ namespace, name, port }, 'two services have one node port; recreate one of them')
  }

  #keepLeaks(
    stored: readonly number[],
    used: ReadonlySet<number>,
    leaks: PortLeaks,
    rebuilt: AllocationBitmap,
  ): PortLeaks {
    const { range, logger } = this.#options
    const next = new Map<number, number>()
    for (const port of stored) {
      if (used.has(port)) continue
      const passes = leaks.get(port) ?? PASSES_BEFORE_CLEANUP - 1
      const index = portIndex(range, port)
      if (passes > 0 && index !== undefined) {
        next.set(port, passes - 1)
        rebuilt.take(index)
      } else logger.warn({ port }, 'a node port belongs to no service; it is given back')
    }
    return next
  }
}

function portsIn({ range: text = '', data }: RangeAllocation, current: PortRange): number[] {
  const range = parsePortRange(text) ?? current
  const bitmap = new AllocationBitmap(range.size, 0, Buffer.from(data ?? '', 'base64'))
  return [...bitmap].map((index) => range.base + index)
}

/** A number for several protocols is one port; the same one twice for one protocol is a mistake that shows. */
function portsOf({ spec = {} }: Service): number[] {
  const found = new Map<number, Set<string>>()
  const ports: number[] = []
  for (const { nodePort = 0, protocol = '' } of spec.ports ?? []) {
    if (nodePort === 0) continue
    const protocols = found.get(nodePort)
    if (protocols === undefined || protocols.has(protocol)) ports.push(nodePort)
    found.set(nodePort, (protocols ?? new Set()).add(protocol))
  }
  const health = spec.healthCheckNodePort ?? 0
  const protocols = found.get(health)
  if (health !== 0 && (protocols === undefined || protocols.has('TCP'))) ports.push(health)
  return ports
}

/** Somebody changed the bitmap while the services were listed. */
class Overtaken extends Error {}
