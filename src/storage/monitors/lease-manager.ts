/**
 * Thread: any. Leases for objects with a time to live. Most of them are Events of one hour, thousands a minute, so
 * one lease serves all whose time ends within a short span, as in Kubernetes: each lease is granted a little longer
 * than asked for, and given again while the next object still fits below that without living on for much too long.
 */
import type { Clock } from '../../lib/clock.js'
import type { CallOptions, KV, LeaseId } from '../contract/kv.js'

export interface LeaseManagerOptions {
  readonly kv: Pick<KV, 'grantLease'>
  readonly clock: Clock
  /** The most that an object may outlive its time. */
  readonly reuseDurationSeconds?: number
  /** The most objects of a lease: with more, its end would be too large a transaction. */
  readonly maxObjectCount?: number
  /** Called when the next lease takes over, with the number of objects of the last one. */
  readonly onLeaseFull?: (objectCount: number) => void
}

export const DEFAULT_LEASE_REUSE_DURATION_SECONDS = 60
export const DEFAULT_LEASE_MAX_OBJECT_COUNT = 1000
/** The part of its time that an object may outlive it by at most: an object of 20 seconds must not live for 80. */
const REUSE_SHARE = 0.05

interface GrantedLease {
  readonly id: LeaseId
  readonly endsAtMs: number
  objectCount: number
}

export class LeaseManager {
  readonly #kv: Pick<KV, 'grantLease'>
  readonly #clock: Clock
  readonly #reuseDurationSeconds: number
  readonly #maxObjectCount: number
  readonly #onLeaseFull: (objectCount: number) => void
  #lease: GrantedLease | undefined
  /** The grant that is under way: objects that find no lease wait for it, because it may serve them too. */
  #granting: Promise<void> | undefined

  constructor(options: LeaseManagerOptions) {
    this.#kv = options.kv
    this.#clock = options.clock
    this.#reuseDurationSeconds = options.reuseDurationSeconds ?? DEFAULT_LEASE_REUSE_DURATION_SECONDS
    this.#maxObjectCount = options.maxObjectCount ?? DEFAULT_LEASE_MAX_OBJECT_COUNT
    this.#onLeaseFull = options.onLeaseFull ?? (() => undefined)
  }

  /** A lease for one object that shall live for `ttlSeconds`, and at most a little longer. */
  async getLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    for (;;) {
      const reused = this.#reuse(ttlSeconds)
      if (reused !== undefined) return reused
      if (this.#granting === undefined) return this.#grant(ttlSeconds, options)
      await this.#granting
    }
  }

  #reuse(ttlSeconds: number): LeaseId | undefined {
    const lease = this.#lease
    if (lease === undefined || lease.objectCount >= this.#maxObjectCount) return undefined
    const wantedEndMs = this.#clock.monotonicMs() + ttlSeconds * 1000
    const longEnough = wantedEndMs < lease.endsAtMs
    const notTooLong = wantedEndMs + this.#extraSeconds(ttlSeconds) * 1000 >= lease.endsAtMs
    if (!longEnough || !notTooLong) return undefined
    lease.objectCount++
    return lease.id
  }

  async #grant(ttlSeconds: number, options: CallOptions | undefined): Promise<LeaseId> {
    let granted: () => void = () => undefined
    this.#granting = new Promise((resolve) => {
      granted = resolve
    })
    try {
      // The time is counted from before the question, so the store's lease ends later than we believe, never earlier.
      const askedAtMs = this.#clock.monotonicMs()
      const seconds = ttlSeconds + this.#extraSeconds(ttlSeconds)
      const id = await this.#kv.grantLease(seconds, options)
      if (this.#lease !== undefined) this.#onLeaseFull(this.#lease.objectCount)
      this.#lease = { id, endsAtMs: askedAtMs + seconds * 1000, objectCount: 1 }
      return id
    } finally {
      this.#granting = undefined
      granted()
    }
  }

  #extraSeconds(ttlSeconds: number): number {
    return Math.min(Math.floor(ttlSeconds * REUSE_SHARE), this.#reuseDurationSeconds)
  }
}
