/**
 * Thread: any. What flow control tells about itself; the names are those of the apiserver_flowcontrol_* metrics. Called on
 * the hot path: an implementation adds to numbers and no more.
 */
export type RejectReason = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled'

export interface LevelLimits {
  readonly nominal: number
  readonly lower: number
  readonly upper: number
}

export interface SeatDemand {
  readonly highWatermark: number
  readonly average: number
  readonly standardDeviation: number
  readonly smoothed: number
  readonly target: number
}

export interface FlowRecorder {
  /** dispatched_requests_total, current_executing_requests, current_executing_seats, request_wait_duration_seconds */
  dispatched(level: string, schema: string, seats: number, waitMs: number): void
  /** current_executing_requests, current_executing_seats, request_execution_seconds */
  finished(level: string, schema: string, seats: number, executionMs: number, longRunning: boolean): void
  /** rejected_requests_total, and request_wait_duration_seconds of requests that waited in vain */
  rejected(level: string, schema: string, reason: RejectReason, waitMs: number): void
  /** current_inqueue_requests, current_inqueue_seats; request_queue_length_after_enqueue when it is an arrival */
  queued(level: string, schema: string, requests: 1 | -1, seats: number, queueLength: number): void
  /** work_estimated_seats */
  estimated(level: string, schema: string, seats: number): void
  /** request_dispatch_no_accommodation_total */
  noRoom(level: string, schema: string): void
  /** nominal_limit_seats, lower_limit_seats, upper_limit_seats */
  configured(level: string, limits: LevelLimits): void
  /** current_limit_seats, demand_seats_* , seat_fair_frac */
  adjusted(level: string, currentLimit: number, demand: SeatDemand): void
  /** The level is gone, and its gauges with it. */
  removed(level: string): void
  fairFraction(fraction: number): void
}

const ignore = (): void => undefined

export const nullFlowRecorder: FlowRecorder = {
  dispatched: ignore,
  finished: ignore,
  rejected: ignore,
  queued: ignore,
  estimated: ignore,
  noRoom: ignore,
  configured: ignore,
  adjusted: ignore,
  removed: ignore,
  fairFraction: ignore,
}
