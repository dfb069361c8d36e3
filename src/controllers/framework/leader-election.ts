/**
 * Thread: controllers. One controller manager works at a time: whoever holds the lease kube-system/kube-controller-manager, be
 * it this server, another one on the same etcd, or a kube-controller-manager. The rules and times are client-go's.
 *
 *   standing by ──the lease is free, expired or ours──▶ leading ──not renewed in time, or taken──▶ standing by
 *        └──────────────────────────── stop(): the lease is given up ──────┘
 *
 * When a lease expires is judged by when this thread saw it change, so that clocks of machines need not agree.
 */
import type { KubeObject } from '../../api/object.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { jitter } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import { workqueueFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'
import type { ControlledResource } from './controlled-resource.js'
import { type ControllerClient, failedWith } from './controller-client.js'
import type { ObjectReader } from './object-reader.js'

const LEASE_SECONDS = 15
const RENEW_LIMIT_MS = 10_000
const RETRY_MS = 2_000
const PLACE = { namespace: 'kube-system', name: 'kube-controller-manager' }

interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
  }
}

export interface LeaderElectionOptions {
  readonly identity: string
  readonly leases: ControlledResource
  readonly client: ControllerClient
  readonly objects: ObjectReader
  readonly clock: Clock
  readonly logger: Logger
  readonly onStarted: () => void
  readonly onStopped: () => Promise<void>
  readonly recorder: Recorder
}

export class LeaderElection {
  readonly #options: LeaderElectionOptions
  readonly #status: Series
  readonly #slowpaths: Series
  #leading = false
  #stopped = false
  #renewedMs = 0
  /** The lease as it was seen last, and since when it has been so. */
  #seen = { revision: '', sinceMs: 0 }
  #timer: Timer | undefined
  #round: Promise<void> | undefined

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#status = options.recorder.series(workqueueFamilies.isLeader, PLACE.name)
    this.#slowpaths = options.recorder.series(workqueueFamilies.leaderSlowpaths, PLACE.name)
    this.#status.set(0)
  }

  get leading(): boolean {
    return this.#leading
  }

  start(): void {
    this.#round = this.#run()
  }

  /** Gives the lease up, so that the next one need not wait for it to expire. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#round
    if (!this.#leading) return
    this.#leading = false
    this.#status.set(0)
    await this.#options.onStopped()
    await this.#release()
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#options
    let isHeld = false
    try {
      isHeld = await this.#tryToHold()
    } catch (error) {
      if (!failedWith(error, 'Conflict') && !failedWith(error, 'AlreadyExists'))
        logger.warn({ err: error }, 'the lease of the controllers could not be written')
    }
    if (this.#stopped) return
    if (isHeld) this.#renewedMs = clock.monotonicMs()
    else if (this.#leading) this.#slowpaths.add(1)
    if (isHeld && !this.#leading) {
      this.#leading = true
      this.#status.set(1)
      logger.info({ identity: this.#options.identity }, 'this server runs the controllers')
      this.#options.onStarted()
    } else if (!isHeld && this.#leading && clock.monotonicMs() - this.#renewedMs >= RENEW_LIMIT_MS) {
      this.#leading = false
      this.#status.set(0)
      logger.warn({}, 'the lease of the controllers was lost: they stop')
      await this.#options.onStopped()
    }
    this.#timer = clock.after(this.#leading ? RETRY_MS : jitter(RETRY_MS, 1.2), () => {
      this.#round = this.#run()
    })
  }

  async #tryToHold(): Promise<boolean> {
    const { identity, leases, client, objects, clock } = this.#options
    const now = microTime(clock.now())
    const mine = { holderIdentity: identity, leaseDurationSeconds: LEASE_SECONDS, renewTime: now }
    const found = await objects.get<Lease>(leases, PLACE)
    if (found === undefined) {
      await client.create(leases, { metadata: PLACE, spec: { ...mine, acquireTime: now, leaseTransitions: 0 } })
      return true
    }
    const {
      holderIdentity = '',
      leaseDurationSeconds = LEASE_SECONDS,
      acquireTime,
      leaseTransitions = 0,
    } = found.spec ?? {}
    const revision = found.metadata?.resourceVersion ?? ''
    if (revision !== this.#seen.revision) this.#seen = { revision, sinceMs: clock.monotonicMs() }
    const isMine = holderIdentity === identity
    const isValid = clock.monotonicMs() < this.#seen.sinceMs + leaseDurationSeconds * 1000
    if (holderIdentity !== '' && !isMine && isValid) {
      // Somebody else took it: there is nothing to renew any longer.
      if (this.#leading) this.#renewedMs = Number.NEGATIVE_INFINITY
      return false
    }
    const spec = isMine
      ? { ...found.spec, ...mine, acquireTime: acquireTime ?? now }
      : { ...found.spec, ...mine, acquireTime: now, leaseTransitions: leaseTransitions + 1 }
    await client.update(leases, { ...found, spec })
    return true
  }

  async #release(): Promise<void> {
    const { identity, leases, client, objects, clock, logger } = this.#options
    try {
      const found = await objects.get<Lease>(leases, PLACE)
      if (found?.spec?.holderIdentity !== identity) return
      const now = microTime(clock.now())
      const spec = { ...found.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now }
      await client.update(leases, { ...found, spec })
    } catch (error) {
      logger.warn({ err: error }, 'the lease of the controllers was not given up: it expires by itself')
    }
  }
}

const microTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}000Z`
