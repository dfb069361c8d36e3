/** Thread: owner. The metrics of the owner while it follows a storage cluster. */
import { parseGroupResource } from '../../api/group-version.js'
import { cacheFamilies, storageFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'

/** The labels of progress: one watch serves all resources, so its progress is that of them all. */
const ALL_RESOURCES = ['', '*'] as const

/** The metrics of one resource; counting an event costs an addition or two. */
export class ResourceEvents {
  readonly #stored: Series
  readonly #received: Series
  readonly #dispatched: Series
  readonly #grown: Series
  readonly #shrunk: Series

  constructor(recorder: Recorder, name: string) {
    const { group, resource } = parseGroupResource(name)
    this.#stored = recorder.series(storageFamilies.eventsReceived, group, resource)
    this.#received = recorder.series(cacheFamilies.received, group, resource)
    this.#dispatched = recorder.series(cacheFamilies.dispatched, group, resource)
    this.#grown = recorder.series(cacheFamilies.capacityIncrease, group, resource)
    this.#shrunk = recorder.series(cacheFamilies.capacityDecrease, group, resource)
  }

  received(): void {
    this.#stored.add(1)
    this.#received.add(1)
  }

  dispatched(): void {
    this.#dispatched.add(1)
  }

  resized(capacity: number, before: number): void {
    if (capacity > before) this.#grown.add(1)
    else this.#shrunk.add(1)
  }
}

export class CacherMetrics {
  readonly #recorder: Recorder
  readonly #passed: Series
  readonly #failed: Series
  readonly #bookmarks: Series
  readonly #bookmarkTotal: Series

  constructor(recorder: Recorder) {
    this.#recorder = recorder
    this.#passed = recorder.series(cacheFamilies.fenceWait, 'true')
    this.#failed = recorder.series(cacheFamilies.fenceWait, 'false')
    this.#bookmarks = recorder.series(storageFamilies.bookmarks, ...ALL_RESOURCES)
    this.#bookmarkTotal = recorder.series(storageFamilies.bookmarkTotal, ...ALL_RESOURCES)
  }

  events(resource: string): ResourceEvents {
    return new ResourceEvents(this.#recorder, resource)
  }

  /** Counts a progress report: the watch told how far the store is, without an event. */
  progress(): void {
    this.#bookmarks.add(1)
    this.#bookmarkTotal.add(1)
  }

  fence(passed: boolean, durationMs: number): void {
    ;(passed ? this.#passed : this.#failed).observe(durationMs / 1000)
  }
}
