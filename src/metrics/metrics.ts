/** Thread: main. The registry behind /metrics. */
import { collectDefaultMetrics, Registry } from 'prom-client'
import { StorageMetrics } from './storage-metrics.js'

export class Metrics {
  readonly storage: StorageMetrics
  readonly #registry = new Registry()

  constructor() {
    this.storage = new StorageMetrics(this.#registry)
  }

  start(): void {
    collectDefaultMetrics({ register: this.#registry })
  }

  text(): Promise<string> {
    return this.#registry.metrics()
  }
}
