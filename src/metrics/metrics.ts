/** Thread: main. The registry behind /metrics: what all threads have counted, and what is known of the process. */
import type { MessagePort } from 'node:worker_threads'
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { Clock } from '../lib/clock.js'
import type { MetricsPage } from '../protocol/metrics-line.js'
import { Collector, type Sum } from './collector.js'
import { FAMILIES } from './families.js'
import type { Family } from './family.js'
import { Recorder } from './recorder.js'
import { StorageMetrics } from './storage-metrics.js'
import { WorkMetrics } from './work-metrics.js'

/** The thread that collects; others are numbered as they come. */
const MAIN = 0

export class Metrics {
  readonly recorder: Recorder
  readonly storage: StorageMetrics
  readonly #registry = new Registry()
  readonly #collector = new Collector(FAMILIES)
  /** Called before each scrape, to set what is only known by asking. */
  readonly #probes: (() => Promise<void> | void)[] = []
  #sums = new Map<Family, Sum[]>()
  #lastThread = MAIN

  constructor() {
    this.recorder = new Recorder((page) => this.#collector.addPage(MAIN, page))
    this.storage = new StorageMetrics(this.recorder)
    for (const family of FAMILIES)
      this.#registry.registerMetric(new FamilyMetric(family, () => this.#sums) as unknown as Metric)
  }

  start(): void {
    collectDefaultMetrics({ register: this.#registry })
  }

  /** The other end of a line that a thread has opened: see MetricsLine. */
  addThread(port: MessagePort): void {
    const thread = ++this.#lastThread
    port.on('message', (page: MetricsPage) => this.#collector.addPage(thread, page))
    port.on('close', () => this.#collector.threadEnded(thread))
    port.unref()
  }

  beforeScrape(probe: () => Promise<void> | void): void {
    this.#probes.push(probe)
  }

  /** A queue of work in this thread. */
  work(name: string, clock: Clock): WorkMetrics {
    const work = new WorkMetrics(name, this.recorder, clock)
    this.beforeScrape(() => work.look())
    return work
  }

  async text(): Promise<string> {
    await Promise.all(this.#probes.map((probe) => probe()))
    this.#sums = this.#collector.collect()
    return this.#registry.metrics()
  }

  /** One series, for pages and tests that need no text. */
  sums(family: Family): readonly Sum[] {
    return this.#collector.collect().get(family) ?? []
  }
}

interface Value {
  readonly labels: Record<string, string | number>
  readonly value: number
  readonly metricName?: string
  readonly sharedLabels?: Record<string, string>
}

/** A family as prom-client asks for it. */
class FamilyMetric {
  readonly name: string
  readonly help: string
  readonly #family: Family
  readonly #sums: () => ReadonlyMap<Family, readonly Sum[]>

  constructor(family: Family, sums: () => ReadonlyMap<Family, readonly Sum[]>) {
    this.name = family.name
    this.help = family.help
    this.#family = family
    this.#sums = sums
  }

  get(): { name: string; help: string; type: string; values: Value[] } {
    const { name, help, type } = this.#family
    const sums = this.#sums().get(this.#family) ?? []
    return { name, help, type, values: sums.flatMap((sum) => this.#values(sum)) }
  }

  #values({ labels, cells }: Sum): Value[] {
    const { name, type, buckets } = this.#family
    const named = Object.fromEntries(this.#family.labels.map((label, i) => [label, labels[i] ?? '']))
    if (type !== 'histogram') return [{ labels: named, value: cells[0]! }]
    const values: Value[] = []
    let count = 0
    for (let i = 0; i <= buckets.length; i++) {
      count += cells[i]!
      const le = i < buckets.length ? buckets[i]! : '+Inf'
      values.push({ metricName: `${name}_bucket`, labels: { le }, sharedLabels: named, value: count })
    }
    values.push({ metricName: `${name}_sum`, labels: named, value: cells[buckets.length + 1]! })
    values.push({ metricName: `${name}_count`, labels: named, value: count })
    return values
  }
}
