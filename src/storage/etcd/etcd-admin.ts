/**
 * Thread: any. The rare calls (status, leases, compaction), through the package etcd3. It reads its protocol files when
 * it is loaded, which takes longer than everything else at start; so it is loaded when it is first needed.
 */
import type { Etcd3, IOptions, IStatusResponse } from 'etcd3'
import type { Clock } from '../../lib/clock.js'
import { StorageError } from '../contract/errors.js'
import type { CallOptions, LeaseId } from '../contract/kv.js'
import { GrpcStatus } from '../grpc/grpc-error.js'
import { storageCodeOf } from './etcd-error.js'
import { progressIsTrusted } from './server-version.js'
import type { TlsOptions } from './tls-options.js'

export interface EtcdAdminOptions {
  readonly endpoints: readonly string[]
  readonly tls?: TlsOptions | undefined
  readonly timeoutMs: number
  readonly clock: Clock
}

/** A server's version is asked for again after this time: servers are upgraded while we run. */
const VERSION_LIFETIME_MS = 60_000

export class EtcdAdmin {
  readonly #options: EtcdAdminOptions
  #whole: Promise<Etcd3> | undefined
  readonly #single = new Map<string, Promise<Etcd3>>()
  readonly #versions = new Map<string, { readonly trusted: Promise<boolean>; readonly untilMs: number }>()
  #closed = false

  constructor(options: EtcdAdminOptions) {
    this.#options = options
  }

  async grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    const etcd3 = await this.#cluster()
    const reply = await this.#call(
      'grant a lease',
      (o) => etcd3.leaseClient.leaseGrant({ TTL: ttlSeconds, ID: 0 }, o),
      options,
    )
    return BigInt(reply.ID)
  }

  /** A revision that is compacted already is no failure. */
  async compact(revision: number, options?: CallOptions): Promise<void> {
    const etcd3 = await this.#cluster()
    try {
      await this.#call('compact', (o) => etcd3.kv.compact({ revision, physical: false }, o), options)
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'too-old')) throw error
    }
  }

  /** The sizes that the answering servers tell; throws when none answers. */
  async databaseSizes(options?: CallOptions): Promise<{ endpoint: string; bytes: number }[]> {
    const { endpoints } = this.#options
    const answers = await Promise.allSettled(endpoints.map((endpoint) => this.#status(endpoint, options)))
    const sizes = answers.flatMap((answer, i) =>
      answer.status === 'fulfilled' ? [{ endpoint: endpoints[i]!, bytes: Number(answer.value.dbSize) }] : [],
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
    const opened = [...this.#single.values(), ...(this.#whole === undefined ? [] : [this.#whole])]
    // A client that failed to open has nothing to close.
    for (const etcd3 of opened) void etcd3.then((e) => e.close()).catch(() => undefined)
  }

  async #status(endpoint: string, options?: CallOptions): Promise<IStatusResponse> {
    let single = this.#single.get(endpoint)
    if (single === undefined) {
      single = this.#open([endpoint])
      this.#single.set(endpoint, single)
    }
    const etcd3 = await single
    return this.#call(`status of ${endpoint}`, (o) => etcd3.maintenance.status(o), options)
  }

  #cluster(): Promise<Etcd3> {
    this.#whole ??= this.#open([...this.#options.endpoints])
    return this.#whole
  }

  async #open(hosts: string[]): Promise<Etcd3> {
    if (this.#closed) throw new StorageError('unreachable', 'etcd: this client is closed')
    const { Etcd3 } = await import('etcd3')
    const { tls } = this.#options
    const options: IOptions = { hosts, dialTimeout: this.#options.timeoutMs }
    if (tls?.ca !== undefined) {
      options.credentials = {
        rootCertificate: Buffer.from(tls.ca),
        ...(tls.key !== undefined && { privateKey: Buffer.from(tls.key) }),
        ...(tls.cert !== undefined && { certChain: Buffer.from(tls.cert) }),
      }
    }
    if (tls?.serverName !== undefined) options.grpcOptions = { 'grpc.ssl_target_name_override': tls.serverName }
    return new Etcd3(options)
  }

  async #call<T>(what: string, run: (options: { deadline: Date }) => Promise<T>, options?: CallOptions): Promise<T> {
    const timeoutMs = options?.timeoutMs ?? this.#options.timeoutMs
    try {
      return await run({ deadline: new Date(Date.now() + timeoutMs) })
    } catch (cause) {
      throw adminError(what, cause)
    }
  }
}

function adminError(what: string, cause: unknown): StorageError {
  const message = cause instanceof Error ? cause.message : String(cause)
  const status = typeof cause === 'object' && cause !== null && 'code' in cause ? Number(cause.code) : Number.NaN
  const code = storageCodeOf(Number.isNaN(status) ? GrpcStatus.unknown : status, message)
  return new StorageError(code, `etcd: ${what}: ${message}`, { cause })
}
