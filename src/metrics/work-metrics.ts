/** Thread: any. A queue of work as kube's workqueues are counted: what comes in, waits, is worked on, comes back. */
import type { Clock } from '../lib/clock.js'
import { workqueueFamilies } from './families.js'
import type { Recorder, Series } from './recorder.js'

/** One piece of work: added, then started, then done. */
export interface WorkItem {
  start(): void
  /** `retry`: the work failed, and will be tried again. */
  done(retry: boolean): void
}

export class WorkMetrics {
  readonly #clock: Clock
  readonly #adds: Series
  readonly #depth: Series
  readonly #retries: Series
  readonly #waits: Series
  readonly #works: Series
  readonly #longest: Series
  readonly #unfinished: Series
  /** When each item under way was started. */
  readonly #underWay = new Map<WorkItem, number>()

  constructor(name: string, recorder: Recorder, clock: Clock) {
    this.#clock = clock
    this.#adds = recorder.series(workqueueFamilies.adds, name)
    this.#depth = recorder.series(workqueueFamilies.depth, name)
    this.#retries = recorder.series(workqueueFamilies.retries, name)
    this.#waits = recorder.series(workqueueFamilies.queueDuration, name)
    this.#works = recorder.series(workqueueFamilies.workDuration, name)
    this.#longest = recorder.series(workqueueFamilies.longestRunning, name)
    this.#unfinished = recorder.series(workqueueFamilies.unfinished, name)
  }

  add(): WorkItem {
    const addedMs = this.#clock.monotonicMs()
    this.#adds.add(1)
    this.#depth.add(1)
    const item: WorkItem = {
      start: () => {
        const nowMs = this.#clock.monotonicMs()
        this.#depth.add(-1)
        this.#waits.observe((nowMs - addedMs) / 1000)
        this.#underWay.set(item, nowMs)
      },
      done: (retry) => {
        const startedMs = this.#underWay.get(item)
        if (startedMs === undefined) return
        this.#underWay.delete(item)
        this.#works.observe((this.#clock.monotonicMs() - startedMs) / 1000)
        if (retry) this.#retries.add(1)
      },
    }
    return item
  }

  /** Runs work as an item that is added, started, and done when the work ends; a failure is thrown on. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const item = this.add()
    item.start()
    let failed = true
    try {
      const result = await work()
      failed = false
      return result
    } finally {
      item.done(failed)
    }
  }

  /** Called before a scrape: records how long the items under way have taken so far. */
  look(): void {
    const nowMs = this.#clock.monotonicMs()
    let longest = 0
    let all = 0
    for (const startedMs of this.#underWay.values()) {
      longest = Math.max(longest, nowMs - startedMs)
      all += nowMs - startedMs
    }
    this.#longest.set(longest / 1000)
    this.#unfinished.set(all / 1000)
  }
}
