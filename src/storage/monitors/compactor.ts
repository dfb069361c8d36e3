/**
 * Thread: owner. Forgets history that is older than an interval. Every process on one store, kube-apiservers
 * included, tries once an interval; they agree through one key: whoever writes it, on the revision at which it last
 * saw it, may compact up to the revision that was current an interval ago. The others see that it changed and
 * wait for another interval, so that a process that dies is replaced by the next one in time.
 *
 *   key absent ── write "0" ──▶ version 1 ── an interval later ── write R1, compact R1 ──▶ version 2 …
 *
 * The key's value is the revision that is compacted. Kubernetes compares its version; the mod revision that we compare
 * changes with it.
 */
import type { Clock, Timer } from '../../lib/clock.js'
import { type Logger, nullLogger } from '../../lib/logger.js'
import type { KeyValue, KV, KvWatch } from '../contract/kv.js'
import { logFailure } from '../contract/log-failure.js'

export const COMPACT_REV_KEY = 'compact_rev_key'
export const DEFAULT_COMPACT_INTERVAL_MS = 5 * 60 * 1000
const FOLLOW_RETRY_MS = 1000

export interface CompactorOptions {
  readonly kv: KV
  readonly clock: Clock
  readonly logger?: Logger
  /** How often this process tries to compact; with 0 it compacts nothing, and only learns of what others compact. */
  readonly intervalMs?: number
  /** Called once an interval: this process has compacted, another one had, or it failed. */
  readonly onTurn?: (result: 'compacted' | 'by-others' | 'failed') => void
  /** Called when the compacted revision has moved. */
  readonly onRevision?: (revision: number) => void
}

export class Compactor {
  readonly #kv: KV
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #intervalMs: number
  readonly #onTurn: NonNullable<CompactorOptions['onTurn']>
  readonly #onRevision: NonNullable<CompactorOptions['onRevision']>
  /** The mod revision at which this process last saw the key; 0 when there was no key. */
  #seenModRevision = 0
  /** The store's revision at the last turn; 0 before the first turn, which therefore compacts nothing. */
  #lastTurnRevision = 0
  #compactRevision = 0
  #stop: AbortController | undefined
  #loops: Promise<void>[] = []

  constructor(options: CompactorOptions) {
    this.#kv = options.kv
    this.#clock = options.clock
    this.#logger = options.logger ?? nullLogger
    this.#intervalMs = options.intervalMs ?? DEFAULT_COMPACT_INTERVAL_MS
    this.#onTurn = options.onTurn ?? (() => undefined)
    this.#onRevision = options.onRevision ?? (() => undefined)
  }

  /** The highest revision that is known to be compacted, by whomever; 0 when none is. */
  compactRevision(): number {
    return Math.max(this.#compactRevision, this.#kv.compactedRevision())
  }

  start(): void {
    if (this.#stop !== undefined) return
    this.#stop = new AbortController()
    const { signal } = this.#stop
    this.#loops = [this.#follow(signal)]
    if (this.#intervalMs > 0) this.#loops.push(this.#compactEveryInterval(signal))
  }

  /** Resolves when nothing of the compactor is under way any more. */
  async stop(): Promise<void> {
    this.#stop?.abort()
    await Promise.all(this.#loops)
    this.#stop = undefined
  }

  async #compactEveryInterval(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#sleep(this.#intervalMs, signal)
      if (signal.aborted) return
      try {
        await this.#turn(signal)
      } catch (error) {
        if (signal.aborted) return
        this.#onTurn('failed')
        this.#logger.error({ err: error }, 'compaction failed')
      }
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const target = this.#lastTurnRevision
    const result = await this.#kv.optimisticPut(COMPACT_REV_KEY, Buffer.from(String(target)), this.#seenModRevision, {
      getOnFailure: true,
      signal,
    })
    this.#lastTurnRevision = result.revision
    if (!result.succeeded) {
      this.#seenModRevision = result.kv?.modRevision ?? 0
      this.#learn(result.kv)
      this.#onTurn('by-others')
      return
    }
    this.#seenModRevision = result.revision
    if (target === 0) return
    await this.#kv.compact(target, { signal })
    this.#moved(target)
    this.#onTurn('compacted')
    this.#logger.debug({ revision: target }, 'compacted')
  }

  /** Watches the key, so that compactions by others are known as they happen and not an interval later. */
  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const { kv, revision } = await this.#kv.get(COMPACT_REV_KEY, { signal })
        this.#learn(kv)
        const watch = this.#kv.watch({ key: COMPACT_REV_KEY, prefix: false, startRevision: revision + 1, signal })
        await this.#learnFrom(watch)
      } catch (error) {
        if (!signal.aborted) logFailure(this.#logger, error, {}, 'the compacted revision cannot be followed')
      }
      await this.#sleep(FOLLOW_RETRY_MS, signal)
    }
  }

  async #learnFrom(watch: KvWatch): Promise<void> {
    try {
      for (let batch = await watch.next(); batch !== undefined; batch = await watch.next())
        this.#learn(batch.events.at(-1)?.kv)
    } finally {
      watch.close()
    }
  }

  #learn(kv: KeyValue | undefined): void {
    if (kv === undefined) return
    const text = Buffer.from(kv.value).toString()
    if (/^\d+$/.test(text)) this.#moved(Number(text))
  }

  #moved(revision: number): void {
    if (revision <= this.#compactRevision) return
    this.#compactRevision = revision
    this.#onRevision(revision)
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      let timer: Timer | undefined
      const done = (): void => {
        timer?.cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      if (signal.aborted) {
        done()
        return
      }
      timer = this.#clock.after(ms, done)
      signal.addEventListener('abort', done, { once: true })
    })
  }
}
