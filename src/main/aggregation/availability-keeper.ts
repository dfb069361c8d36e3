/**
 * Thread: main. Keeps the condition Available of APIServices of other servers: each is looked at when it comes or changes, when its service
 * or endpoints do, and every half minute. Several servers on one etcd agree by a lease on which of them writes it.
 */

import type { RemoteService } from '../../aggregator/api-service.js'
import type { APIServiceIndex } from '../../aggregator/api-service-index.js'
import { availability } from '../../aggregator/availability.js'
import type { ServiceDirectory } from '../../aggregator/service-directory.js'
import type { APIService, APIServiceCondition } from '../../api/generated/kinds/apiregistration.v1.js'
import type { Clock, Timer } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import { type LoopbackClient, LoopbackError } from '../bootstrap/loopback-client.js'
import type { RemoteConnections } from './remote-connections.js'
import { probeDiscovery } from './remote-documents.js'
import type { ServerLease } from './server-lease.js'

const COLLECTION = '/apis/apiregistration.k8s.io/v1/apiservices'
const AVAILABLE = 'Available'
/** How often the lease is held, and what is new is looked at. */
const TICK_MS = 2_000
/** A server that was found to be there is asked again after so long; one that was not, sooner. */
const AVAILABLE_MS = 30_000
const UNAVAILABLE_MS = 2_000

export interface AvailabilityKeeperOptions {
  readonly index: APIServiceIndex
  readonly directory: ServiceDirectory
  readonly connections: RemoteConnections
  readonly client: LoopbackClient
  /** Undefined where no other server can be. */
  readonly lease: ServerLease | undefined
  readonly clock: Clock
  readonly logger: Logger
}

export class AvailabilityKeeper {
  readonly #options: AvailabilityKeeperOptions
  /** When each was looked at last, and as what; a state that memory has replaced is looked at again. */
  readonly #looked = new Map<string, { remote: RemoteService; dueMs: number }>()
  #timer: Timer | undefined
  #round: Promise<void> | undefined
  #isHolding = false
  #isStopped = false

  constructor(options: AvailabilityKeeperOptions) {
    this.#options = options
  }

  start(): void {
    this.#options.index.onChange(() => this.#wake())
    this.#wake()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#round
    if (this.#isHolding) await this.#options.lease?.release()
  }

  #wake(): void {
    if (this.#isStopped || this.#round !== undefined) return
    this.#timer?.cancel()
    // Without APIServices of others there is nothing to do and nothing to hold.
    if (this.#options.index.all.length === 0) return
    this.#round = this.#look()
      .catch((error: unknown) =>
        this.#options.logger.warn({ err: error }, 'the availability of APIServices could not be written'),
      )
      .then(() => {
        this.#round = undefined
        if (!this.#isStopped) this.#timer = this.#options.clock.after(TICK_MS, () => this.#wake())
      })
  }

  async #look(): Promise<void> {
    const { index, lease, clock } = this.#options
    this.#isHolding = lease === undefined || (await lease.hold())
    if (!this.#isHolding) return
    const remotes = index.all
    const names = new Set(remotes.map(({ name }) => name))
    for (const name of this.#looked.keys()) if (!names.has(name)) this.#looked.delete(name)
    const due = remotes.filter((remote) => {
      const looked = this.#looked.get(remote.name)
      return looked === undefined || looked.remote !== remote || looked.dueMs <= clock.monotonicMs()
    })
    await Promise.all(due.map((remote) => this.#check(remote)))
  }

  async #check(remote: RemoteService): Promise<void> {
    const { directory, connections, clock } = this.#options
    const found = await availability(remote, directory, (one) => probeDiscovery(connections, one))
    const waitMs = found.status === 'True' ? AVAILABLE_MS : UNAVAILABLE_MS
    this.#looked.set(remote.name, { remote, dueMs: clock.monotonicMs() + waitMs })
    await this.#write(remote, { type: AVAILABLE, ...found })
  }

  /** Writes the condition when it says something else than the stored one; its time changes with its status alone. */
  async #write(remote: RemoteService, condition: APIServiceCondition): Promise<void> {
    const { client, clock, logger } = this.#options
    const stored = (await client.get(`${COLLECTION}/${remote.name}`)) as APIService | undefined
    if (stored === undefined || !stored.spec?.service) return
    const conditions = stored.status?.conditions ?? []
    const before = conditions.find(({ type }) => type === AVAILABLE)
    const { status, reason, message } = condition
    const isSame = before !== undefined && before.status === status
    if (isSame && before.reason === reason && before.message === message) return
    const now = `${new Date(clock.now()).toISOString().slice(0, 19)}Z`
    const next: APIServiceCondition = {
      ...condition,
      lastTransitionTime: isSame ? (before.lastTransitionTime ?? now) : now,
    }
    try {
      await client.update(`${COLLECTION}/${remote.name}/status`, {
        ...stored,
        status: { ...stored.status, conditions: [...conditions.filter(({ type }) => type !== AVAILABLE), next] },
      } as APIService)
      if (!isSame)
        logger.info({ apiService: remote.name, status, reason, message }, 'the availability of an APIService changed')
    } catch (error) {
      // It has changed or gone meanwhile: memory tells, and it is looked at again.
      if (!(error instanceof LoopbackError) || (error.status !== 409 && error.status !== 404)) throw error
    }
  }
}
