/** Thread: main. API Priority and Fairness as the gate of the front end: what has room goes on in its turn, the rest waits. */
import type { RequestInfo } from '../../api/request-info.js'
import type { Clock } from '../../lib/clock.js'
import type { BulkTurns } from '../http/bulk-turns.js'
import { type GatedRequest, type Leave, type RequestGate, RequestRefused } from '../request/request-gate.js'
import type { Classification, FlowController } from './flow-controller.js'
import { type FlowRecorder, nullFlowRecorder, type RejectReason } from './flow-recorder.js'
import { Ticket, Waiter } from './queue-set.js'
import type { WatchCounts } from './watch-counts.js'
import { estimateWork, type ListSize, type WorkEstimate, type WorkSources } from './work-estimate.js'

/**
 * The part of its time that a request may spend waiting. A watch has no time of its own, and gets this part of the
 * server's limit.
 */
const WAIT_FRACTION = 0.25
const MAX_WAIT_MS = 60_000

export interface FairGateOptions {
  readonly controller: FlowController
  readonly clock: Clock
  readonly turns: BulkTurns
  readonly requestTimeoutMs: number
  readonly listSize: (info: RequestInfo) => ListSize | undefined
  readonly watchCounts: WatchCounts
  readonly recorder?: FlowRecorder
}

const nothing: Leave = () => undefined

export class FairGate implements RequestGate {
  readonly #controller: FlowController
  readonly #clock: Clock
  readonly #turns: BulkTurns
  readonly #recorder: FlowRecorder
  readonly #waitMs: number
  readonly #watchCounts: WatchCounts
  readonly #sources: WorkSources

  constructor(options: FairGateOptions) {
    const { controller, clock, turns, requestTimeoutMs, listSize, watchCounts, recorder = nullFlowRecorder } = options
    this.#watchCounts = watchCounts
    this.#controller = controller
    this.#clock = clock
    this.#turns = turns
    this.#recorder = recorder
    this.#waitMs = Math.min(requestTimeoutMs * WAIT_FRACTION, MAX_WAIT_MS)
    this.#sources = { listSize, watchers: (info) => watchCounts.of(info) }
  }

  enter(request: GatedRequest): Leave | Promise<Leave> {
    const { info } = request
    const isWatch = info.verb === 'watch'
    if (request.longRunning && !isWatch) return nothing
    const found = this.#controller.classify(request.user, info)
    request.addResponseHeaders(found.headers)
    const { level } = found
    const work = estimateWork(info, request.query, this.#sources, level.maxRequestSeats || Number.POSITIVE_INFINITY)
    this.#recorder.estimated(level.name, found.schemaName, Math.max(work.initialSeats, work.finalSeats))
    let decide: ((outcome: Ticket | RejectReason) => void) | undefined
    const outcome = level.queues.enter(found.flow, work, (later) => decide?.(later))
    if (outcome instanceof Ticket) return this.#entered(request, found, outcome)
    if (!(outcome instanceof Waiter)) return this.#refuse(found)
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(this.#waitMs, () => level.queues.cancel(outcome, 'time-out'))
      request.onGone(() => level.queues.cancel(outcome, 'cancelled'))
      decide = (later) => {
        timer.cancel()
        if (later instanceof Ticket) this.#start(work, () => resolve(this.#entered(request, found, later)))
        else this.#refuse(found).catch(reject)
      }
    })
  }

  /** Work of many seats begins in turns, as it goes on. */
  #start(work: WorkEstimate, begin: () => void): void {
    if (work.initialSeats <= 1) {
      begin()
      return
    }
    this.#turns.add(() => {
      begin()
      return false
    })
  }

  #entered(request: GatedRequest, { level }: Classification, ticket: Ticket): Leave {
    const { longRunning } = request
    if (longRunning) request.onGone(this.#watchCounts.add(request.info))
    return () => level.queues.leave(ticket, longRunning)
  }

  /**
   * Refusals are sent later, in turns: a client that asks again at once shall not keep the thread busy with refusing.
   */
  #refuse({ level }: Classification): Promise<never> {
    level.retryAfter.refused(this.#clock.now())
    return new Promise((_resolve, reject) =>
      this.#turns.refuse(() => reject(new RequestRefused(level.retryAfter.seconds))),
    )
  }
}
