/**
 * Thread: any. The revision of an etcd cluster over a connection of its own, for a thread that does nothing else with etcd: one
 * call with the same bytes each time, and of the answer only the header is read. A call waits for no connection and is not
 * repeated: whoever asks has another way (ReaderFence).
 */
import { type Clock, systemClock } from '../../lib/clock.js'
import type { Dial } from '../../lib/egress/connect-tunnel.js'
import { type Logger, nullLogger } from '../../lib/logger.js'
import type { RevisionSource } from '../contract/revision-source.js'
import { GrpcError } from '../grpc/grpc-error.js'
import type { GrpcChannel } from './channel.js'
import { CHANNEL_DEFAULTS, RECONNECT_DEFAULTS } from './channel-defaults.js'
import { Endpoints } from './endpoints.js'
import { isServerTrouble } from './etcd-error.js'
import { decodeRevision, encodeRange, NO_KEY, RANGE } from './messages.js'
import type { TlsSource } from './tls-options.js'

export interface EtcdRevisionSourceOptions {
  readonly endpoints: readonly string[]
  readonly tls?: TlsSource | undefined
  readonly dial?: Dial | undefined
  readonly clock?: Clock
  readonly logger?: Logger
  readonly timeoutMs?: number
}

/** A healthy server answers within a few milliseconds; after this time the owner is asked, who knows whether to wait. */
const DEFAULT_TIMEOUT_MS = 500
const QUESTION = encodeRange({ key: NO_KEY, countOnly: true })

export class EtcdRevisionSource implements RevisionSource {
  readonly #endpoints: Endpoints
  readonly #timeoutMs: number

  constructor(options: EtcdRevisionSourceOptions) {
    const { endpoints, tls, dial, clock = systemClock, logger = nullLogger } = options
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.#endpoints = new Endpoints({
      urls: endpoints,
      channel: { tls, dial, clock, ...CHANNEL_DEFAULTS },
      clock,
      random: Math.random,
      logger,
      ...RECONNECT_DEFAULTS,
    })
  }

  ask(): Promise<number | undefined> | undefined {
    const channel = this.#endpoints.pick()
    if (channel === undefined) return undefined
    return this.#askOn(channel)
  }

  async #askOn(channel: GrpcChannel): Promise<number | undefined> {
    try {
      const revision = decodeRevision(await channel.unary(RANGE, QUESTION, { timeoutMs: this.#timeoutMs }))
      this.#endpoints.succeeded(channel)
      return revision
    } catch (error) {
      // The owner's own question fails in the same way when there is trouble, and is told of there.
      if (error instanceof GrpcError && isServerTrouble(error)) this.#endpoints.failed(channel, error)
      return undefined
    }
  }

  close(): void {
    this.#endpoints.close()
  }
}
