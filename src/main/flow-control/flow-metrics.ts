/** Thread: main, or a front end's own. Flow control as metrics: two lookups and a few additions a request. */
import { flowFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'
import type { FlowRecorder, LevelLimits, RejectReason, SeatDemand } from './flow-recorder.js'

/** The series of one schema in one level. */
interface SchemaSeries {
  readonly executing: Series
  readonly seats: Series
  readonly inqueue: Series
  readonly inqueueSeats: Series
  readonly queueLength: Series
  readonly dispatched: Series
  readonly waited: Series
  readonly regular: Series
  readonly watch: Series
  readonly estimated: Series
}

export class FlowMetrics implements FlowRecorder {
  readonly #recorder: Recorder
  readonly #levels = new Map<string, Map<string, SchemaSeries>>()

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  dispatched(level: string, schema: string, seats: number, waitMs: number): void {
    const series = this.#of(level, schema)
    series.dispatched.add(1)
    series.executing.add(1)
    series.seats.add(seats)
    series.waited.observe(waitMs / 1000)
  }

  finished(level: string, schema: string, seats: number, executionMs: number, longRunning: boolean): void {
    const series = this.#of(level, schema)
    series.executing.add(-1)
    series.seats.add(-seats)
    const { regular, watch } = series
    ;(longRunning ? watch : regular).observe(executionMs / 1000)
  }

  rejected(level: string, schema: string, reason: RejectReason, waitMs: number): void {
    this.#recorder.series(flowFamilies.rejected, level, schema, reason).add(1)
    this.#recorder.series(flowFamilies.wait, level, schema, 'false').observe(waitMs / 1000)
  }

  queued(level: string, schema: string, requests: 1 | -1, seats: number, queueLength: number): void {
    const series = this.#of(level, schema)
    series.inqueue.add(requests)
    series.inqueueSeats.add(requests * seats)
    if (requests === 1) series.queueLength.observe(queueLength)
  }

  estimated(level: string, schema: string, seats: number): void {
    this.#of(level, schema).estimated.observe(seats)
  }

  noRoom(level: string, schema: string): void {
    this.#recorder.series(flowFamilies.noRoom, level, schema).add(1)
  }

  configured(level: string, { nominal, lower, upper }: LevelLimits): void {
    this.#recorder.series(flowFamilies.limit, level).set(nominal)
    this.#recorder.series(flowFamilies.lowerLimit, level).set(lower)
    this.#recorder.series(flowFamilies.upperLimit, level).set(upper)
  }

  adjusted(level: string, currentLimit: number, demand: SeatDemand): void {
    this.#recorder.series(flowFamilies.currentLimit, level).set(currentLimit)
    this.#recorder.series(flowFamilies.demandHigh, level).set(demand.highWatermark)
    this.#recorder.series(flowFamilies.demandAverage, level).set(demand.average)
    this.#recorder.series(flowFamilies.demandDeviation, level).set(demand.standardDeviation)
    this.#recorder.series(flowFamilies.demandSmoothed, level).set(demand.smoothed)
    this.#recorder.series(flowFamilies.target, level).set(demand.target)
  }

  removed(level: string): void {
    for (const family of LEVEL_GAUGES) this.#recorder.series(family, level).clear()
  }

  fairFraction(fraction: number): void {
    this.#recorder.series(flowFamilies.fairFraction).set(fraction)
  }

  #of(level: string, schema: string): SchemaSeries {
    let schemas = this.#levels.get(level)
    if (schemas === undefined) {
      schemas = new Map()
      this.#levels.set(level, schemas)
    }
    let series = schemas.get(schema)
    if (series === undefined) {
      const recorder = this.#recorder
      series = {
        executing: recorder.series(flowFamilies.executing, level, schema),
        seats: recorder.series(flowFamilies.seats, level, schema),
        inqueue: recorder.series(flowFamilies.inqueue, level, schema),
        inqueueSeats: recorder.series(flowFamilies.inqueueSeats, level, schema),
        queueLength: recorder.series(flowFamilies.queueLength, level, schema),
        dispatched: recorder.series(flowFamilies.dispatched, level, schema),
        waited: recorder.series(flowFamilies.wait, level, schema, 'true'),
        regular: recorder.series(flowFamilies.execution, level, schema, 'regular'),
        watch: recorder.series(flowFamilies.execution, level, schema, 'watch'),
        estimated: recorder.series(flowFamilies.estimatedSeats, level, schema),
      }
      schemas.set(schema, series)
    }
    return series
  }
}

const LEVEL_GAUGES = [
  flowFamilies.limit,
  flowFamilies.lowerLimit,
  flowFamilies.upperLimit,
  flowFamilies.currentLimit,
  flowFamilies.demandHigh,
  flowFamilies.demandAverage,
  flowFamilies.demandDeviation,
  flowFamilies.demandSmoothed,
  flowFamilies.target,
]
