/**
 * Thread: any. The servers of one etcd cluster. Calls go to the first server, in the order given, that is connected
 * and not in trouble; the ones before it are tried again in the background as their backoff ends, so that no call
 * waits for a dead server while another answers.
 *
 *   idle ── wanted ──▶ connecting ──▶ connected ── lost, reported ──▶ idle (backing off) ──▶ …
 */
import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import { backoff, type Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import { GrpcError, GrpcStatus } from '../grpc/grpc-error.js'
import { type ChannelSettings, GrpcChannel } from './channel.js'

const TELL_AGAIN_MS = 60_000
const NO_CONNECTION = 'no connection to etcd; trying again until there is one'

export interface EndpointsOptions {
  readonly urls: readonly string[]
  readonly channel: ChannelSettings
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly backoffBaseMs: number
  readonly backoffCapMs: number
}

interface Endpoint {
  readonly url: string
  channel: GrpcChannel | undefined
  /** The channel that is being connected; kept only to close it. */
  connecting: GrpcChannel | undefined
  /** How many failures came in a row; a call that succeeds sets it back to 0. */
  failures: number
  retryAtMs: number
  lastError: Error | undefined
  /** Since when there is no connection, and when that was logged last; it is told again every so often until there is one. */
  trouble: { readonly since: string; readonly sinceMs: number; toldMs: number } | undefined
}

export class Endpoints {
  readonly #options: EndpointsOptions
  readonly #endpoints: readonly Endpoint[]
  /** Called whenever an endpoint changes its state. */
  #waiters: (() => void)[] = []
  #closed = false

  constructor(options: EndpointsOptions) {
    if (options.urls.length === 0) throw new RangeError('etcd: no endpoints')
    this.#options = options
    this.#endpoints = options.urls.map((url) => ({
      url,
      channel: undefined,
      connecting: undefined,
      failures: 0,
      retryAtMs: 0,
      lastError: undefined,
      trouble: undefined,
    }))
  }

  get size(): number {
    return this.#endpoints.length
  }

  /** An open channel, at once when there is one. Throws (not sent) after `timeoutMs`. */
  async acquire(timeoutMs: number, signal?: CancelSignal): Promise<GrpcChannel> {
    const open = this.pick()
    if (open !== undefined) return open
    const { clock } = this.#options
    const deadlineMs = clock.monotonicMs() + timeoutMs
    for (;;) {
      const channel = this.pick()
      if (channel !== undefined) return channel
      if (this.#closed) throw new GrpcError(GrpcStatus.unavailable, 'this client is closed', { notSent: true })
      if (signal?.aborted)
        throw new GrpcError(GrpcStatus.cancelled, 'the caller gave up', { notSent: true, cause: signal.reason })
      const nowMs = clock.monotonicMs()
      if (nowMs >= deadlineMs)
        throw new GrpcError(GrpcStatus.unavailable, `no server answers: ${this.#troubles()}`, { notSent: true })
      await this.#change(Math.min(deadlineMs, this.#nextRetryMs(nowMs)) - nowMs, signal)
    }
  }

  /** Says that a call on this channel worked. */
  succeeded(channel: GrpcChannel): void {
    const endpoint = this.#endpoints.find((e) => e.channel === channel)
    if (endpoint !== undefined && endpoint.failures > 0) {
      endpoint.failures = 0
      endpoint.retryAtMs = 0
    }
  }

  /** Says that the server behind this channel did not do its work: another one is preferred for a while. */
  failed(channel: GrpcChannel, error: Error): void {
    const endpoint = this.#endpoints.find((e) => e.channel === channel)
    if (endpoint !== undefined && endpoint.retryAtMs <= this.#options.clock.monotonicMs())
      this.#backOff(endpoint, error)
  }

  close(): void {
    this.#closed = true
    for (const endpoint of this.#endpoints) {
      endpoint.channel?.close()
      endpoint.connecting?.close()
    }
    this.#wake()
  }

  /** An open channel if there is one now; else connections are begun. */
  pick(): GrpcChannel | undefined {
    if (this.#closed) return undefined
    const first = this.#endpoints[0]!
    if (first.retryAtMs === 0 && first.channel?.usable) return first.channel
    const nowMs = this.#options.clock.monotonicMs()
    for (const endpoint of this.#endpoints) {
      if (endpoint.retryAtMs > nowMs) continue
      if (endpoint.channel?.usable) return endpoint.channel
      if (endpoint.channel === undefined && endpoint.connecting === undefined) this.#connect(endpoint)
    }
    return undefined
  }

  #connect(endpoint: Endpoint): void {
    const channel: GrpcChannel = new GrpcChannel({
      ...this.#options.channel,
      url: endpoint.url,
      onUnusable: (reason) => this.#lost(endpoint, channel, reason),
    })
    endpoint.connecting = channel
    channel.connect().then(
      () => {
        if (endpoint.connecting === channel) endpoint.connecting = undefined
        if (!channel.usable) return
        endpoint.channel = channel
        this.#tellConnected(endpoint)
        this.#wake()
      },
      (error: unknown) => {
        this.#tellTrouble(endpoint, error instanceof Error ? error.message : String(error))
      },
    )
  }

  #tellTrouble(endpoint: Endpoint, reason: string): void {
    const { logger, clock } = this.#options
    const nowMs = clock.monotonicMs()
    const isNew = endpoint.trouble === undefined
    endpoint.trouble ??= { since: new Date(clock.now()).toISOString(), sinceMs: nowMs, toldMs: nowMs }
    const { trouble } = endpoint
    const fields = { endpoint: endpoint.url, reason, since: trouble.since }
    if (isNew || nowMs - trouble.toldMs >= TELL_AGAIN_MS) {
      trouble.toldMs = nowMs
      logger.warn(fields, isNew ? NO_CONNECTION : `still ${NO_CONNECTION}`)
    } else logger.debug(fields, `still ${NO_CONNECTION}`)
  }

  #tellConnected(endpoint: Endpoint): void {
    const { logger, clock } = this.#options
    const { trouble } = endpoint
    if (trouble === undefined) logger.debug({ endpoint: endpoint.url }, 'connected to etcd')
    else {
      const seconds = Math.round((clock.monotonicMs() - trouble.sinceMs) / 1000)
      logger.info({ endpoint: endpoint.url, seconds }, 'connected to etcd again')
    }
    endpoint.trouble = undefined
  }

  #lost(endpoint: Endpoint, channel: GrpcChannel, reason: Error): void {
    const wasConnected = endpoint.channel === channel
    if (wasConnected) endpoint.channel = undefined
    if (endpoint.connecting === channel) endpoint.connecting = undefined
    if (this.#closed) return
    if (wasConnected)
      this.#options.logger.warn({ endpoint: endpoint.url, reason: reason.message }, 'lost the connection to etcd')
    this.#backOff(endpoint, reason)
  }

  #backOff(endpoint: Endpoint, error: Error): void {
    const { clock, random, backoffBaseMs, backoffCapMs } = this.#options
    endpoint.lastError = error
    endpoint.retryAtMs = clock.monotonicMs() + backoff(endpoint.failures, backoffBaseMs, backoffCapMs, random)
    endpoint.failures++
    this.#wake()
  }

  /** When the next backoff ends. An endpoint that is connecting wakes the waiters itself when it is done. */
  #nextRetryMs(nowMs: number): number {
    let next = Number.POSITIVE_INFINITY
    for (const endpoint of this.#endpoints) {
      if (endpoint.retryAtMs > nowMs) next = Math.min(next, endpoint.retryAtMs)
    }
    return next
  }

  #change(timeoutMs: number, signal: CancelSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      // One millisecond more, because a timer may fire a fraction early and would then be set again for nothing.
      const timer = this.#options.clock.after(Math.max(0, timeoutMs) + 1, done)
      signal?.addEventListener('abort', done, { once: true })
      this.#waiters.push(done)
    })
  }

  #wake(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const waiter of waiters) waiter()
  }

  #troubles(): string {
    return this.#endpoints.map((e) => `${e.url} (${e.lastError?.message ?? 'still connecting'})`).join(', ')
  }
}
