/** Thread: main. The registry behind /metrics: what all threads have counted, and what is known of the process. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Clock } from '../lib/clock.js'
import type { MetricsPage } from '../protocol/metrics-line.js'
import { Collector, type Sum } from './collector.js'
import { Exposition } from './exposition.js'
import { FAMILIES } from './families.js'
import type { Family } from './family.js'
import { Recorder } from './recorder.js'
import { StorageMetrics } from './storage-metrics.js'
import { WorkMetrics } from './work-metrics.js'

/** The number of the thread that collects; others are numbered as they come. */
const MAIN = 0
/** So many characters are made in one turn of the event loop: well below a millisecond. */
const TURN_LENGTH = 64 * 1024

export class Metrics {
  readonly recorder: Recorder
  readonly storage: StorageMetrics
  readonly #registry = new Registry()
  readonly #collector = new Collector(FAMILIES)
  /** Called before each scrape, to set values that are only known by asking. */
  readonly #probes: (() => Promise<void> | void)[] = []
  readonly #exposition = new Exposition()
  #scrape: Promise<string> | undefined
  #lastThread = MAIN

  readonly #disabled: ReadonlySet<string>

  /** `disabled`: names of metrics that are counted and not shown. */
  constructor(disabled: readonly string[] = []) {
    this.#disabled = new Set(disabled)
    this.recorder = new Recorder((page) => this.#collector.addPage(MAIN, page))
    this.storage = new StorageMetrics(this.recorder)
  }

  start(): void {
    collectDefaultMetrics({ register: this.#registry })
    for (const name of this.#disabled) this.#registry.removeSingleMetric(name)
  }

  /** Takes the other end of a line that a thread has opened: see MetricsLine. */
  addThread(port: MessagePort): void {
    const thread = ++this.#lastThread
    port.on('message', (page: MetricsPage) => this.#collector.addPage(thread, page))
    port.on('close', () => this.#collector.threadEnded(thread))
    port.unref()
  }

  beforeScrape(probe: () => Promise<void> | void): void {
    this.#probes.push(probe)
  }

  /** The metrics of a queue of work in this thread. */
  work(name: string, clock: Clock): WorkMetrics {
    const work = new WorkMetrics(name, this.recorder, clock)
    this.beforeScrape(() => work.look())
    return work
  }

  /** The text for a scrape. Whoever asks while one is being made gets the same. */
  text(): Promise<string> {
    this.#scrape ??= this.#make().finally(() => {
      this.#scrape = undefined
    })
    return this.#scrape
  }

  /** Makes the text in turns, so that requests go on meanwhile. */
  async #make(): Promise<string> {
    await Promise.all(this.#probes.map((probe) => probe()))
    const own = await this.#registry.metrics()
    await nextTurn()
    const sums = this.#collector.collect()
    const parts: string[] = []
    let length = 0
    for (const family of FAMILIES) {
      if (this.#disabled.has(family.name)) continue
      const text = this.#exposition.family(family, sums.get(family) ?? [])
      parts.push(text)
      length += text.length
      if (length < TURN_LENGTH) continue
      length = 0
      await nextTurn()
    }
    return `${parts.join('')}${own}`
  }

  /** The sums of one family, for pages and tests that need no text. */
  sums(family: Family): readonly Sum[] {
    return this.#collector.collect().get(family) ?? []
  }
}
