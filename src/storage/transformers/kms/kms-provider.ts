/**
 * Thread: any. Keeps the data key that writes current with the plugin's key: asks its status every minute, makes a new
 * data key when the key ID has changed, and asks every ten seconds while something is wrong.
 *
 *            status ok, same key ID: lease renewed
 *                   ┌────────┐
 *   unprimed ──ok──▶│ current │──any failure──▶ coasting ──3 minutes without success──▶ expired
 *                   └────────┘◀────ok───────────┴───────────────────────◀─ok─────────────┘
 *
 * Reads work in every state but the first. Writes work in `current` and `coasting`.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { assert } from '../../../lib/assert.js'
import type { Clock, Timer } from '../../../lib/clock.js'
import type { Logger } from '../../../lib/logger.js'
import { TransformError } from '../../contract/transform-error.js'
import { SEED_SIZE } from '../extended-nonce-gcm.js'
import { DekSourceType, dekSourceCacheKey, hashOfKeyId, keyIdProblem, validateDekSource } from './encrypted-object.js'
import { dekTransformer, type WriteState } from './envelope.js'
import { type KeyCounter, noKeyCounter } from './key-counter.js'
import type { KmsService, StatusResponse } from './kms-service.js'

export interface KmsProviderOptions {
  readonly name: string
  readonly service: KmsService
  readonly clock: Clock
  readonly logger: Logger
  readonly keys?: KeyCounter
}

const HEALTHY_POLL_MS = 60_000
const UNHEALTHY_POLL_MS = 10_000
/** How long a data key writes after the last success: with the polls above, at least twelve attempts. */
const WRITE_STATE_MAX_TTL_MS = 3 * 60_000
/** So long a good answer holds: health endpoints may be asked at any rate, the plugin may not. */
const HEALTHY_ANSWER_TTL_MS = 20_000
const UNHEALTHY_ANSWER_TTL_MS = 3_000

const API_VERSIONS: readonly string[] = ['v2', 'v2beta1']

export class KmsProvider {
  readonly name: string
  readonly #service: KmsService
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #keys: KeyCounter
  #state: WriteState | undefined
  #version: string | undefined
  #last: { error: TransformError | undefined; atMs: number } | undefined
  #probing: Promise<void> | undefined
  #timer: Timer | undefined
  #stopped = false

  constructor({ name, service, clock, logger, keys = noKeyCounter }: KmsProviderOptions) {
    this.#keys = keys
    this.name = name
    this.#service = service
    this.#clock = clock
    this.#logger = logger.child({ kms: name })
  }

  /** Awaits the first status. A plugin that is not up yet is no failure: it is asked again. */
  async start(): Promise<void> {
    assert(this.#timer === undefined && !this.#stopped, 'a KMS provider starts once')
    await this.#poll()
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
    this.#service.close()
  }

  currentState(): WriteState {
    if (this.#state !== undefined) return this.#state
    throw new TransformError('kms', `KMS provider ${this.name} has no data key yet`, this.#last?.error)
  }

  /** Rejects while the plugin is unwell, has another API, or its key cannot be used. */
  async check(): Promise<void> {
    const last = this.#last
    const ttlMs = last?.error === undefined ? HEALTHY_ANSWER_TTL_MS : UNHEALTHY_ANSWER_TTL_MS
    if (last === undefined || this.#clock.monotonicMs() - last.atMs >= ttlMs) {
      this.#probing ??= this.#probe().finally(() => {
        this.#probing = undefined
      })
      await this.#probing
    }
    if (this.#last?.error !== undefined) throw this.#last.error
  }

  async #poll(): Promise<void> {
    let delayMs = HEALTHY_POLL_MS
    try {
      await this.check()
    } catch (error) {
      delayMs = UNHEALTHY_POLL_MS
      this.#logger.warn({ err: error }, 'the KMS plugin failed its health check')
    }
    if (this.#stopped) return
    this.#timer = this.#clock.after(delayMs, () => void this.#poll())
  }

  async #probe(): Promise<void> {
    let error: TransformError | undefined
    try {
      const problems = await this.#examine(await this.#service.status())
      if (problems.length > 0) {
        error = new TransformError('kms', `KMS provider ${this.name} is not healthy: ${problems.join('; ')}`)
      }
    } catch (cause) {
      if (!(cause instanceof TransformError)) throw cause
      error = cause
    }
    this.#last = { error, atMs: this.#clock.monotonicMs() }
  }

  /**
   * Gives everything that is wrong with a status. A usable key ID is followed even when the plugin complains of
   * something else.
   */
  async #examine(status: StatusResponse): Promise<string[]> {
    const problems: string[] = []
    if (status.healthz !== 'ok') problems.push(`its healthz says ${JSON.stringify(status.healthz)}`)
    if (!API_VERSIONS.includes(status.version)) {
      problems.push(`its API version is ${JSON.stringify(status.version)}, not v2`)
    } else {
      this.#version ??= status.version
      if (this.#version !== status.version) {
        problems.push(`its API version changed from ${this.#version} to ${status.version}`)
      }
    }
    const keyProblem = keyIdProblem(status.keyId) ?? (await this.#rotateIfKeyIdChanged(status.keyId))
    if (keyProblem !== undefined) problems.push(keyProblem)
    return problems
  }

  async #rotateIfKeyIdChanged(statusKeyId: string): Promise<string | undefined> {
    // The time is counted from before the call, so that it is an upper bound.
    const expiresAtMs = this.#clock.now() + WRITE_STATE_MAX_TTL_MS
    if (this.#state?.source.keyId === statusKeyId) {
      this.#state = { ...this.#state, expiresAtMs }
      return undefined
    }
    try {
      const fresh = await this.#timedDataKey(expiresAtMs)
      if (fresh.source.keyId === statusKeyId) {
        this.#state = fresh
        this.#logger.info({ keyIdHash: hashOfKeyId(statusKeyId) }, 'writing with a new data key')
        return undefined
      }
      const [said, used] = [hashOfKeyId(statusKeyId), hashOfKeyId(fresh.source.keyId)]
      return `it says key ID hash "${said}" but encrypts with "${used}"`
    } catch (error) {
      if (!(error instanceof TransformError)) throw error
      return `no new data key could be made: ${error.message}`
    }
  }

  async #timedDataKey(expiresAtMs: number): Promise<WriteState> {
    const startedMs = this.#clock.monotonicMs()
    try {
      const fresh = await this.#newDataKey(expiresAtMs)
      this.#keys.generated(this.#clock.monotonicMs() - startedMs)
      return fresh
    } catch (error) {
      this.#keys.failed()
      throw error
    }
  }

  async #newDataKey(expiresAtMs: number): Promise<WriteState> {
    const seed = randomBytes(SEED_SIZE)
    const { ciphertext, keyId, annotations } = await this.#service.encrypt(randomUUID(), seed)
    const type = DekSourceType.HKDF_SHA256_XNONCE_AES_GCM_SEED
    const source = { keyId, encryptedDekSource: ciphertext, annotations, type }
    validateDekSource(source)
    return { source, cacheKey: dekSourceCacheKey(source), transformer: dekTransformer(type, seed), expiresAtMs }
  }
}
