/** Thread: main. The tasks of the pool, counted and timed from their giving to their result. */
import type { Clock } from '../../lib/clock.js'
import { processFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'
import type { PoolTaskName } from '../../protocol/main-pool.js'

interface TaskSeries {
  readonly tasks: Series
  readonly duration: Series
}

export class PoolMetrics {
  readonly #recorder: Recorder
  readonly #clock: Clock
  readonly #series = new Map<PoolTaskName, TaskSeries>()

  constructor(recorder: Recorder, clock: Clock) {
    this.#recorder = recorder
    this.#clock = clock
  }

  async timed<T>(type: PoolTaskName, result: Promise<T>): Promise<T> {
    const startedMs = this.#clock.monotonicMs()
    const { tasks, duration } = this.#of(type)
    tasks.add(1)
    try {
      return await result
    } finally {
      duration.observe((this.#clock.monotonicMs() - startedMs) / 1000)
    }
  }

  replaced(reason: 'stuck' | 'ended'): void {
    this.#recorder.series(processFamilies.poolReplaced, reason).add(1)
  }

  #of(type: PoolTaskName): TaskSeries {
    let series = this.#series.get(type)
    if (series === undefined) {
      series = {
        tasks: this.#recorder.series(processFamilies.poolTasks, type),
        duration: this.#recorder.series(processFamilies.poolDuration, type),
      }
      this.#series.set(type, series)
    }
    return series
  }
}
