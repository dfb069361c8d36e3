/** Thread: main. How much a list would read, from shared memory: objects are counted, their size is that of a sample. */
import type { RequestInfo } from '../../api/request-info.js'
import { NEWEST, openSnapshot } from '../../cacher/read/resolve.js'
import type { ResourceViews } from '../../cacher/read/resource-view.js'
import type { Clock } from '../../lib/clock.js'
import { prefixEnd } from '../../storage/contract/kv.js'
import type { ServedResource } from '../verbs/served-resource.js'
import type { ListSize } from './work-estimate.js'

const SAMPLE = 16
const SAMPLE_LASTS_MS = 1000

export interface ListSizesOptions {
  readonly views: ResourceViews
  readonly clock: Clock
  readonly resolve: (info: RequestInfo) => ServedResource | undefined
}

export class ListSizes {
  readonly #options: ListSizesOptions
  readonly #samples = new Map<string, { readonly takenMs: number; readonly averageBytes: number }>()

  constructor(options: ListSizesOptions) {
    this.#options = options
  }

  /** The size of a list; undefined for a resource that is not in memory. */
  of(info: RequestInfo): ListSize | undefined {
    const { views, clock, resolve } = this.#options
    const resource = resolve(info)
    const arena = resource === undefined ? undefined : views(resource.arena).arena()
    if (resource === undefined || arena === undefined) return undefined
    const start = resource.rootKey(info.namespace)
    const end = prefixEnd(start)
    const snapshot = openSnapshot(arena, NEWEST.revision)
    if (snapshot === undefined) return undefined
    try {
      const objects = snapshot.count(start, end)
      let sample = this.#samples.get(resource.arena)
      const now = clock.monotonicMs()
      if (sample === undefined || now - sample.takenMs > SAMPLE_LASTS_MS) {
        let seen = 0
        let bytes = 0
        snapshot.scan(start, end, (record) => {
          bytes += record.body().byteLength
          return ++seen < SAMPLE
        })
        if (seen === 0) return { objects, averageBytes: 0 }
        sample = { takenMs: now, averageBytes: bytes / seen }
        this.#samples.set(resource.arena, sample)
      }
      return { objects, averageBytes: sample.averageBytes }
    } finally {
      snapshot.release()
    }
  }
}
