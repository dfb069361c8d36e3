/**
 * Thread: any. The transformers of an EncryptionConfiguration file that may change while the server runs. The file's
 * hash is looked at every minute, when the system says that it has changed, and when something cannot be read: another
 * thread or server may have the new key already. A new file takes over once it is valid and its KMS plugins are
 * healthy, and until then, or when it is not, the old one goes on and the failure is reported.
 */
import { type FSWatcher, watch } from 'node:fs'
import path from 'node:path'
import type { GroupResource } from '../../api/group-version.js'
import { assert } from '../../lib/assert.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { backoff, type Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import type { Transformer, TransformResult } from '../contract/transformer.js'
import { encryptionConfigHash, type LoadedEncryption, loadEncryptionConfig } from './encryption-config-loader.js'
import type { KeyCounter } from './kms/key-counter.js'
import type { ResourceTransformers } from './resource-transformers.js'

export interface ReloadRecorder {
  reloaded(contentHash: string): void
  failed(error: unknown): void
}

export interface DynamicTransformersOptions {
  readonly filePath: string
  readonly initial: LoadedEncryption
  /** Whether the file is also looked at when the system says that it has changed. Default: only as time passes. */
  readonly watchesFile?: boolean
  readonly clock: Clock
  readonly logger: Logger
  readonly recorder?: ReloadRecorder
  readonly keys?: KeyCounter
  readonly random?: Random
}

const POLL_INTERVAL_MS = 60_000
/** The first wait after a failure: a file that somebody is writing at this moment is whole a second later. */
const RETRY_BASE_MS = 1000
const HEALTH_POLL_MS = 100
const MIN_HEALTH_WAIT_MS = 10_000

export class DynamicTransformers implements ResourceTransformers {
  readonly #options: DynamicTransformersOptions
  readonly #random: Random
  #current: LoadedEncryption
  /** Generations that were replaced, and may still be in the middle of a call. */
  readonly #retired = new Map<LoadedEncryption, Timer>()
  #timer: Timer | undefined
  #watcher: FSWatcher | undefined
  #looking: Promise<number> | undefined
  #failures = 0
  #stopped = false

  constructor(options: DynamicTransformersOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
    this.#current = options.initial
  }

  start(): void {
    assert(this.#timer === undefined && !this.#stopped, 'transformers start once')
    this.#schedule(POLL_INTERVAL_MS)
    if (this.#options.watchesFile === true) this.#watcher = this.#watch()
  }

  /** Watches the folder: files are mostly replaced by a rename or a link, of which the old file says nothing. */
  #watch(): FSWatcher | undefined {
    const { filePath, logger } = this.#options
    try {
      const watcher = watch(path.dirname(filePath), { persistent: false }, () => void this.#poll())
      watcher.on('error', (error) => logger.warn({ err: error, filePath }, 'the file is looked at every minute only'))
      return watcher
    } catch (error) {
      logger.warn({ err: error, filePath }, 'the file is looked at every minute only')
      return undefined
    }
  }

  /** Closes every generation that is still open. */
  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
    this.#watcher?.close()
    for (const [generation, timer] of this.#retired) {
      timer.cancel()
      generation.close()
    }
    this.#retired.clear()
    this.#current.close()
  }

  get contentHash(): string {
    return this.#current.contentHash
  }

  check(): Promise<void> {
    return this.#current.check()
  }

  transformerForResource(resource: GroupResource): Transformer {
    let generation = this.#current
    let transformer = generation.transformers.transformerForResource(resource)
    const current = (): Transformer => {
      if (generation !== this.#current) {
        generation = this.#current
        transformer = generation.transformers.transformerForResource(resource)
      }
      return transformer
    }
    return {
      transformFromStorage: (data, key): TransformResult | Promise<TransformResult> =>
        this.#read(() => current().transformFromStorage(data, key)),
      transformToStorage: (data, key): Uint8Array | Promise<Uint8Array> => current().transformToStorage(data, key),
    }
  }

  #read(attempt: () => TransformResult | Promise<TransformResult>): TransformResult | Promise<TransformResult> {
    const generation = this.#current
    const again = async (error: unknown): Promise<TransformResult> => {
      await this.#poll()
      if (this.#current === generation) throw error
      return attempt()
    }
    try {
      const result = attempt()
      return result instanceof Promise ? result.catch(again) : result
    } catch (error) {
      return again(error)
    }
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(delayMs, () => void this.#poll())
  }

  /**
   * Resolves when the file has been looked at. Those who ask during a look wait for one more, since the file may have
   * changed.
   */
  async #poll(): Promise<void> {
    if (this.#looking !== undefined) await this.#looking
    if (this.#stopped) return
    this.#looking ??= this.#look()
    const delayMs = await this.#looking
    this.#looking = undefined
    if (!this.#stopped) this.#schedule(delayMs)
  }

  /** Looks at the file; gives the time until the next look. */
  async #look(): Promise<number> {
    const { filePath, logger, recorder } = this.#options
    try {
      const next = await this.#changed()
      this.#failures = 0
      if (next !== undefined) {
        this.#takeOver(next)
        recorder?.reloaded(next.contentHash)
        logger.info({ contentHash: next.contentHash }, 'the encryption configuration was reloaded')
      }
    } catch (error) {
      recorder?.failed(error)
      logger.error({ err: error, filePath }, 'the new encryption configuration is not used: the old one stays')
      return backoff(this.#failures++, RETRY_BASE_MS, POLL_INTERVAL_MS, this.#random)
    }
    return POLL_INTERVAL_MS
  }

  /** A new generation, loaded and healthy; undefined when the file is the one in use. */
  async #changed(): Promise<LoadedEncryption | undefined> {
    const { filePath } = this.#options
    if ((await encryptionConfigHash(filePath)) === this.#current.contentHash) return undefined
    const next = await loadEncryptionConfig(filePath, this.#options)
    try {
      // The file may have gone back to what it was between the two readings.
      if (next.contentHash === this.#current.contentHash || this.#stopped) {
        next.close()
        return undefined
      }
      await this.#healthy(next)
      return next
    } catch (error) {
      next.close()
      throw error
    }
  }

  async #healthy(next: LoadedEncryption): Promise<void> {
    const { clock } = this.#options
    const deadlineMs = clock.monotonicMs() + Math.max(MIN_HEALTH_WAIT_MS, next.closeGracePeriodMs)
    for (;;) {
      try {
        return await next.check()
      } catch (error) {
        if (this.#stopped || clock.monotonicMs() >= deadlineMs) throw error
      }
      await new Promise<void>((resolve) => clock.after(HEALTH_POLL_MS, resolve))
    }
  }

  #takeOver(next: LoadedEncryption): void {
    if (this.#stopped) {
      next.close()
      return
    }
    const old = this.#current
    this.#current = next
    const timer = this.#options.clock.after(old.closeGracePeriodMs, () => {
      this.#retired.delete(old)
      old.close()
    })
    this.#retired.set(old, timer)
  }
}
