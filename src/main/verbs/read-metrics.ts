/** Thread: main, or a front end's own. The metrics of reads from memory: lists, waits, watches, conversions. */
import { cacheFamilies, watchFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'
import type { ServedResource } from './served-resource.js'

/** The label of lists that looked at everything in their range. */
const NO_INDEX = ''

/** The watches of one version of one resource. */
export class WatchSeries {
  readonly watchers: Series
  readonly parked: Series
  readonly initialEvents: Series
  readonly terminated: Series
  readonly #events: Series
  readonly #sizes: Series
  readonly #recorder: Recorder
  readonly #labels: readonly [group: string, version: string, resource: string]

  constructor(recorder: Recorder, { info }: ServedResource) {
    const { group, version, resource } = info
    this.#recorder = recorder
    this.#labels = [group, version, resource]
    this.watchers = recorder.series(watchFamilies.watchers, group, resource)
    this.parked = recorder.series(watchFamilies.parked, group, resource)
    this.initialEvents = recorder.series(watchFamilies.initialEvents, group, resource)
    this.terminated = recorder.series(watchFamilies.terminated, group, resource)
    this.#events = recorder.series(watchFamilies.events, ...this.#labels)
    this.#sizes = recorder.series(watchFamilies.eventSizes, ...this.#labels)
  }

  /** Counts the same bytes, sent to so many watchers. */
  sent(bytes: number, watchers: number): void {
    this.#events.add(watchers)
    this.#sizes.observe(bytes, watchers)
  }

  listed(scope: string, durationMs: number): void {
    this.#recorder.series(watchFamilies.listDuration, ...this.#labels, scope).observe(durationMs / 1000)
  }
}

/** The lists and waits of one resource. */
export class ListSeries {
  readonly #lists: Series
  readonly #fetched: Series
  readonly #returned: Series
  readonly #fresh: Series
  readonly #fallback: Series
  readonly #wait: Series
  readonly #recorder: Recorder
  readonly #labels: readonly [group: string, resource: string]

  constructor(recorder: Recorder, { info: { group, resource } }: ServedResource) {
    this.#recorder = recorder
    this.#labels = [group, resource]
    this.#lists = recorder.series(cacheFamilies.lists, group, resource, NO_INDEX)
    this.#fetched = recorder.series(cacheFamilies.fetched, group, resource, NO_INDEX)
    this.#returned = recorder.series(cacheFamilies.returned, group, resource)
    this.#fresh = recorder.series(cacheFamilies.consistentReads, group, resource, 'true', 'false')
    this.#fallback = recorder.series(cacheFamilies.consistentReads, group, resource, 'false', 'true')
    this.#wait = recorder.series(cacheFamilies.readWait, group, resource)
  }

  /** Counts a list. `index` is the field by which its objects were found. */
  listed(fetched: number, returned: number, index: string): void {
    this.#returned.add(returned)
    if (index === NO_INDEX) {
      this.#lists.add(1)
      this.#fetched.add(fetched)
      return
    }
    const [group, resource] = this.#labels
    this.#recorder.series(cacheFamilies.lists, group, resource, index).add(1)
    this.#recorder.series(cacheFamilies.fetched, group, resource, index).add(fetched)
  }

  /** Counts a list that had to see everything acknowledged: memory had it in time, or the storage was asked. */
  consistent(fromMemory: boolean): void {
    if (fromMemory) this.#fresh.add(1)
    else this.#fallback.add(1)
  }

  waited(durationMs: number): void {
    this.#wait.observe(durationMs / 1000)
  }
}

/** Counts forms of objects that were at hand, and those that had to be made. */
export interface ConversionCounter {
  found(objects: number): void
  made(objects: number): void
  /** The bytes of all forms that are kept now. */
  kept(bytes: number): void
}

export class ReadMetrics implements ConversionCounter {
  readonly #recorder: Recorder
  readonly #lists = new WeakMap<ServedResource, ListSeries>()
  readonly #watches = new WeakMap<ServedResource, WatchSeries>()
  readonly #hits: Series
  readonly #misses: Series
  readonly #bytes: Series

  constructor(recorder: Recorder) {
    this.#recorder = recorder
    this.#hits = recorder.series(cacheFamilies.conversions, 'hit')
    this.#misses = recorder.series(cacheFamilies.conversions, 'miss')
    this.#bytes = recorder.series(cacheFamilies.conversionBytes)
  }

  lists(resource: ServedResource): ListSeries {
    let series = this.#lists.get(resource)
    if (series === undefined) {
      series = new ListSeries(this.#recorder, resource)
      this.#lists.set(resource, series)
    }
    return series
  }

  watches(resource: ServedResource): WatchSeries {
    let series = this.#watches.get(resource)
    if (series === undefined) {
      series = new WatchSeries(this.#recorder, resource)
      this.#watches.set(resource, series)
    }
    return series
  }

  /** Counts a list whose client did not take it in time, by what became of it. */
  slowList({ info: { group, resource } }: ServedResource, outcome: 'copied' | 'reopened' | 'lost'): void {
    this.#recorder.series(cacheFamilies.slowLists, group, resource, outcome).add(1)
  }

  slowListBytes(bytes: number): void {
    this.#recorder.series(cacheFamilies.slowListBytes).set(bytes)
  }

  found(objects: number): void {
    this.#hits.add(objects)
  }

  made(objects: number): void {
    this.#misses.add(objects)
  }

  kept(bytes: number): void {
    this.#bytes.set(bytes)
  }
}
