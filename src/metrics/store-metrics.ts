/** Thread: any. What one resource's storage counts: calls, lists, objects that could not be read. */
import type { GroupResource } from '../api/group-version.js'
import { storageFamilies } from './families.js'
import type { Recorder, Series } from './recorder.js'

export type StoreOperation = 'get' | 'list' | 'listOnlyKeys' | 'create' | 'update' | 'delete'

interface OperationSeries {
  readonly duration: Series
  readonly requests: Series
}

export class StoreMetrics {
  readonly #recorder: Recorder
  readonly #resource: GroupResource
  readonly #operations = new Map<StoreOperation, OperationSeries>()

  constructor(recorder: Recorder, resource: GroupResource) {
    this.#recorder = recorder
    this.#resource = resource
  }

  called(operation: StoreOperation, durationMs: number): void {
    let series = this.#operations.get(operation)
    if (series === undefined) {
      const { group, resource } = this.#resource
      series = {
        duration: this.#recorder.series(storageFamilies.etcdDuration, operation, group, resource),
        requests: this.#recorder.series(storageFamilies.etcdRequests, operation, group, resource),
      }
      this.#operations.set(operation, series)
    }
    series.duration.observe(durationMs / 1000)
    series.requests.add(1)
  }

  failed(operation: StoreOperation): void {
    const { group, resource } = this.#resource
    this.#recorder.series(storageFamilies.etcdErrors, operation, group, resource).add(1)
  }

  listed(counts: { readonly fetched: number; readonly evaluated: number; readonly returned: number }): void {
    const { group, resource } = this.#resource
    this.#recorder.series(storageFamilies.lists, group, resource).add(1)
    this.#recorder.series(storageFamilies.listFetched, group, resource).add(counts.fetched)
    this.#recorder.series(storageFamilies.listEvaluated, group, resource).add(counts.evaluated)
    this.#recorder.series(storageFamilies.listReturned, group, resource).add(counts.returned)
  }

  unreadable(): void {
    const { group, resource } = this.#resource
    this.#recorder.series(storageFamilies.decodeErrors, group, resource).add(1)
  }
}
