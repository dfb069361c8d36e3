/** Thread: main. The parts of flow control of one front end, put together. */
import type { RequestInfo } from '../../api/request-info.js'
import type { StaleListener } from '../../cacher/read/arena-follower.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import type { Clock } from '../../lib/clock.js'
import type { BulkTurns } from '../http/bulk-turns.js'
import type { ServedResource } from '../verbs/served-resource.js'
import { FairGate } from './fair-gate.js'
import { FlowController } from './flow-controller.js'
import { FlowFollower } from './flow-follower.js'
import type { FlowRecorder } from './flow-recorder.js'
import { ListSizes } from './list-sizes.js'
import type { WatchCounts } from './watch-counts.js'

export interface FlowControlOptions {
  readonly client: CacheClient
  readonly clock: Clock
  readonly turns: BulkTurns
  /** The seats of the whole server; each front end has its part. */
  readonly totalSeats: number
  readonly frontEnds: number
  readonly requestTimeoutMs: number
  readonly watchCounts: WatchCounts
  readonly resolve: (info: RequestInfo) => ServedResource | undefined
  readonly recorder?: FlowRecorder
  readonly onStale?: StaleListener
}

export class FlowControl {
  readonly gate: FairGate
  readonly controller: FlowController
  readonly #follower: FlowFollower

  constructor(options: FlowControlOptions) {
    const { client, clock, turns, totalSeats, frontEnds, requestTimeoutMs, resolve, watchCounts, recorder } = options
    const recording = recorder === undefined ? {} : { recorder }
    const sizes = new ListSizes({ views: (resource) => client.resource(resource), clock, resolve })
    this.controller = new FlowController({ clock, totalSeats: Math.ceil(totalSeats / frontEnds), ...recording })
    this.gate = new FairGate({
      controller: this.controller,
      clock,
      turns,
      requestTimeoutMs,
      listSize: (info) => sizes.of(info),
      watchCounts,
      ...recording,
    })
    this.#follower = new FlowFollower(
      client,
      ({ levels, schemas }) => this.controller.configure(levels, schemas),
      options.onStale,
    )
  }

  start(): void {
    this.#follower.start()
    this.controller.start()
  }

  stop(): void {
    this.#follower.stop()
    this.controller.stop()
  }
}
