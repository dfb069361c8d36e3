/**
 * Thread: pool. Node ports, kept as Kubernetes keeps them: one RangeAllocation with a bitmap, changed by
 * compare-and-swap. All changes that come while one is under way go together in the next, so that a busy thread costs
 * the store one transaction for many services. The last state that this thread wrote is tried first, without reading.
 */

import type { RangeAllocation } from '../../../../api/generated/kinds/core.v1.js'
import { formatPortRange, type PortRange, portBand, portIndex } from '../../../../api/network/port-range.js'
import type { KubeObject } from '../../../../api/object.js'
import { newInternalError } from '../../../../api/status.js'
import type { Random } from '../../../../lib/jitter.js'
import type { Storage } from '../../../../storage/contract/interface.js'
import { AllocationBitmap } from './allocation-bitmap.js'
import { AllocationError } from './allocation-error.js'
import { BitmapPortOperation, DryRunPortOperation, type PortOperation } from './port-operation.js'

export const NODE_PORTS_KEY = '/ranges/servicenodeports'

export interface NodePortAllocatorOptions {
  readonly storage: Storage<KubeObject>
  readonly range: PortRange
  readonly random: Random
}

/** Works on the bitmap of the moment; may be called again with another one. A failure undoes what it did. */
type Change = (operation: BitmapPortOperation) => unknown

interface Waiting {
  readonly change: Change
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly value: unknown } | { readonly error: unknown }

export class NodePortAllocator {
  readonly #options: NodePortAllocatorOptions
  #last: RangeAllocation | undefined
  #waiting: Waiting[] = []
  #running = false

  constructor(options: NodePortAllocatorOptions) {
    this.#options = options
  }

  /** What `plan` takes is taken when this resolves; when it throws, nothing is. */
  allocate<T>(plan: (operation: PortOperation) => T): Promise<T> {
    return this.#change(plan) as Promise<T>
  }

  async dryRun<T>(plan: (operation: PortOperation) => T): Promise<T> {
    const { range, storage } = this.#options
    const bitmap = this.#bitmap(await storage.get(NODE_PORTS_KEY))
    return plan(
      new DryRunPortOperation((port) => {
        const index = portIndex(range, port)
        return index !== undefined && bitmap.has(index)
      }),
    )
  }

  async release(ports: readonly number[]): Promise<void> {
    if (ports.length === 0) return
    await this.#change((operation) => {
      for (const port of ports) operation.release(port)
    })
  }

  #change(change: Change): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      await this.#write(batch)
    }
    this.#running = false
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    let outcomes: Outcome[] = []
    const tryUpdate = (existing: KubeObject) => {
      const bitmap = this.#bitmap(existing)
      outcomes = batch.map(({ change }) => this.#attempt(change, bitmap))
      return { object: { ...existing, data: Buffer.from(bitmap.toBytes()).toString('base64') } }
    }
    try {
      const last = this.#last
      this.#last = (await this.#options.storage.guaranteedUpdate(NODE_PORTS_KEY, tryUpdate, {
        ignoreNotFound: true,
        ...(last === undefined ? {} : { cachedExistingObject: last }),
      })) as RangeAllocation
      for (const [i, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[i]!
        if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.value)
      }
    } catch (error) {
      this.#last = undefined
      for (const { reject } of batch) reject(error)
    }
  }

  #attempt(change: Change, bitmap: AllocationBitmap): Outcome {
    const { range, random } = this.#options
    const saved = bitmap.save()
    try {
      return { value: change(new BitmapPortOperation(bitmap, range, random)) }
    } catch (error) {
      bitmap.restore(saved)
      return { error }
    }
  }

  #bitmap({ metadata, range: stored, data }: RangeAllocation): AllocationBitmap {
    const { range } = this.#options
    // Repair makes it when the server starts; before that nobody knows which ports the services have.
    if (metadata?.resourceVersion === undefined)
      throw newInternalError('cannot allocate resources of type servicenodeports at this time')
    if (stored !== formatPortRange(range))
      throw new AllocationError('mismatched-network', 'the provided range does not match the current range')
    return new AllocationBitmap(range.size, portBand(range), Buffer.from(data ?? '', 'base64'))
  }
}
