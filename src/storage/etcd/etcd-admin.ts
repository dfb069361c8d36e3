/**
 * Thread: any. The rare calls: leases and compaction, which any server of the cluster answers, and what one server says of itself,
 * which is asked of that one alone and not waited for longer than it takes to connect.
 */
import type { Clock } from '../../lib/clock.js'
import { StorageError } from '../contract/errors.js'
import type { CallOptions, LeaseId } from '../contract/kv.js'
import type { Caller } from './caller.js'
import { type ChannelSettings, GrpcChannel } from './channel.js'
import { toStorageError } from './etcd-error.js'
import {
  decodeLeaseGrant,
  decodeLeaseTime,
  decodeStatus,
  encodeCompaction,
  encodeLeaseGrant,
  encodeLeaseTime,
  encodeStatus,
  type StatusResponse,
} from './messages.js'
import { progressIsTrusted } from './server-version.js'

export interface EtcdAdminOptions {
  readonly endpoints: readonly string[]
  /** To whichever server answers. */
  readonly caller: Caller
  /** Of the connections to single servers. */
  readonly channel: ChannelSettings
  readonly timeoutMs: number
  readonly clock: Clock
}

const LEASE_GRANT = '/etcdserverpb.Lease/LeaseGrant'
const LEASE_TIME = '/etcdserverpb.Lease/LeaseTimeToLive'
const COMPACT = '/etcdserverpb.KV/Compact'
const STATUS = '/etcdserverpb.Maintenance/Status'

/** A server's version is asked for again after this time: servers are upgraded while we run. */
const VERSION_LIFETIME_MS = 60_000

export class EtcdAdmin {
  readonly #options: EtcdAdminOptions
  readonly #channels = new Map<string, { readonly channel: GrpcChannel; readonly connected: Promise<void> }>()
  readonly #versions = new Map<string, { readonly trusted: Promise<boolean>; readonly untilMs: number }>()
  #closed = false

  constructor(options: EtcdAdminOptions) {
    this.#options = options
  }

  /** May be asked twice when an answer is lost: a lease that nobody uses ends by itself. */
  async grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    return decodeLeaseGrant(await this.#cluster('grant a lease', LEASE_GRANT, encodeLeaseGrant(ttlSeconds), options))
  }

  /** The seconds that a lease was granted for, and those that are left: -1 when it has ended. */
  async leaseTimeToLive(lease: LeaseId): Promise<{ ttlSeconds: number; remainingSeconds: number }> {
    return decodeLeaseTime(await this.#cluster('ask for a lease', LEASE_TIME, encodeLeaseTime(lease)))
  }

  /** A revision that is compacted already is no failure. */
  async compact(revision: number, options?: CallOptions): Promise<void> {
    try {
      await this.#cluster('compact', COMPACT, encodeCompaction(revision), options)
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'too-old')) throw error
    }
  }

  /** The sizes that the answering servers tell; throws when none answers. */
  async databaseSizes(options?: CallOptions): Promise<{ endpoint: string; bytes: number }[]> {
    const { endpoints } = this.#options
    const answers = await Promise.allSettled(endpoints.map((endpoint) => this.#status(endpoint, options)))
    const sizes = answers.flatMap((answer, i) =>
      answer.status === 'fulfilled' ? [{ endpoint: endpoints[i]!, bytes: answer.value.dbSize }] : [],
    )
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (sizes.length === 0 && failed !== undefined) throw failed.reason
    return sizes
  }

  /** False also when the server does not tell its version. */
  progressTrusted(endpoint: string): Promise<boolean> {
    const nowMs = this.#options.clock.monotonicMs()
    const known = this.#versions.get(endpoint)
    if (known !== undefined && nowMs < known.untilMs) return known.trusted
    const trusted = this.#status(endpoint).then(
      (status) => progressIsTrusted(status.version),
      () => {
        this.#versions.delete(endpoint)
        return false
      },
    )
    this.#versions.set(endpoint, { trusted, untilMs: nowMs + VERSION_LIFETIME_MS })
    return trusted
  }

  async progressTrustedEverywhere(): Promise<boolean> {
    const each = await Promise.all(this.#options.endpoints.map((endpoint) => this.progressTrusted(endpoint)))
    return each.every((trusted) => trusted)
  }

  close(): void {
    this.#closed = true
    for (const { channel } of this.#channels.values()) channel.close()
    this.#channels.clear()
  }

  async #cluster(what: string, method: string, frame: Buffer, options?: CallOptions): Promise<Buffer> {
    try {
      return await this.#options.caller.read(method, frame, options)
    } catch (error) {
      throw toStorageError(error, what)
    }
  }

  async #status(endpoint: string, options?: CallOptions): Promise<StatusResponse> {
    const timeoutMs = options?.timeoutMs ?? this.#options.timeoutMs
    try {
      const channel = await this.#channel(endpoint)
      return decodeStatus(await channel.unary(STATUS, encodeStatus(), { timeoutMs, signal: options?.signal }))
    } catch (error) {
      throw toStorageError(error, `status of ${endpoint}`)
    }
  }

  /** The connection to one server, kept until it breaks. */
  async #channel(endpoint: string): Promise<GrpcChannel> {
    if (this.#closed) throw new StorageError('unreachable', 'etcd: this client is closed')
    let kept = this.#channels.get(endpoint)
    if (kept === undefined) {
      const channel: GrpcChannel = new GrpcChannel({
        ...this.#options.channel,
        url: endpoint,
        onUnusable: () => {
          if (this.#channels.get(endpoint)?.channel === channel) this.#channels.delete(endpoint)
        },
      })
      kept = { channel, connected: channel.connect() }
      this.#channels.set(endpoint, kept)
    }
    await kept.connected
    return kept.channel
  }
}
