/**
 * Thread: any. Fair queuing of the requests of one priority level.
 *
 * A flow has a hand of queues; a request waits in the one of them with the least work. Seats are given to the queue whose
 * next request would finish first in virtual time. Virtual time advances by the seat-milliseconds that each active queue
 * gets when all are served alike; a queue's start moves on by the work of what it starts, guessed when it starts and
 * corrected when it ends. So a flow that asks for much waits behind itself, and not in front of others.
 *
 *   arrived ──room and nobody waits, or its turn──▶ executing ──leave──▶ [lingering on its seats] ──▶ gone
 *      ├──no room──▶ waiting ──its turn──▶ executing
 *      │               └──waited too long, client gone──▶ refused
 *      └──queue full──▶ refused
 */
import type { Clock } from '../../lib/clock.js'
import { type FlowRecorder, nullFlowRecorder, type RejectReason } from './flow-recorder.js'
import { SeatDemandMeter } from './seat-demand.js'
import type { WorkEstimate } from './work-estimate.js'

/** How long a request is guessed to take before it is known. */
const GUESSED_SERVICE_MS = 3

export interface QueuingLimits {
  /** How many queues there are: below 0 everybody enters, with 0 nobody waits. */
  readonly queues: number
  readonly queueLengthLimit: number
}

/**
 * The part of a level's seats that no single flow takes: whoever comes next finds a place, and need not wait for the
 * end of something large. Kubernetes lets one flow have them all; there a request waits beside many threads, here
 * behind one.
 */
const FREE_FRACTION = 0.1

/**
 * While a level has seats left, its queues hold so many times their length: a waiting request costs nothing, and a
 * refused client asks again.
 */
const HELD_BACK_FACTOR = 4

/** One flow of a schema: the queues its requests may wait in, and the seats it has. */
export interface Flow {
  readonly schema: string
  readonly hand: readonly number[]
  seatsInUse: number
}

class Queue {
  readonly waiting: Waiter[] = []
  waitingWork = 0
  executing = 0
  seatsInUse = 0
  /** The virtual time at which the queue's next request starts. */
  start = 0
}

export class Waiter {
  readonly flow: Flow
  readonly work: WorkEstimate
  readonly queue: Queue
  readonly arrivedMs: number
  readonly arrivedVirtual: number
  /** Set once the request is let in or refused. */
  outcome: Ticket | RejectReason | undefined
  /** Called with the ticket, or with the reason why there is none, when the request had to wait. */
  decide: ((outcome: Ticket | RejectReason) => void) | undefined

  constructor(
    queue: Queue,
    flow: Flow,
    work: WorkEstimate,
    arrived: { readonly ms: number; readonly virtual: number },
  ) {
    this.queue = queue
    this.flow = flow
    this.work = work
    this.arrivedMs = arrived.ms
    this.arrivedVirtual = arrived.virtual
  }

  settle(outcome: Ticket | RejectReason): void {
    this.outcome = outcome
    this.decide?.(outcome)
  }
}

/** The seats that a request has taken. */
export class Ticket {
  readonly flow: Flow
  readonly queue: Queue | undefined
  readonly work: WorkEstimate
  readonly startedMs: number
  left = false

  constructor(flow: Flow, queue: Queue | undefined, work: WorkEstimate, startedMs: number) {
    this.flow = flow
    this.queue = queue
    this.work = work
    this.startedMs = startedMs
  }
}

export interface QueueSetOptions {
  readonly name: string
  readonly clock: Clock
  readonly recorder?: FlowRecorder
}

const maxSeats = (work: WorkEstimate): number => Math.max(work.initialSeats, work.finalSeats)
const totalWork = (work: WorkEstimate): number =>
  work.initialSeats * GUESSED_SERVICE_MS + work.finalSeats * work.additionalMs

export class QueueSet {
  readonly name: string
  readonly demand: SeatDemandMeter
  readonly #clock: Clock
  readonly #recorder: FlowRecorder
  #limits: QueuingLimits = { queues: 0, queueLengthLimit: 0 }
  #queues: Queue[] = []
  #limit = 0
  #seatsInUse = 0
  #executing = 0
  #waiting = 0
  #seatsWaiting = 0
  #activeQueues = 0
  #virtual = 0
  #virtualAtMs: number
  #robin = 0
  #turn = 0

  constructor({ name, clock, recorder = nullFlowRecorder }: QueueSetOptions) {
    this.name = name
    this.#clock = clock
    this.#recorder = recorder
    this.#virtualAtMs = clock.monotonicMs()
    this.demand = new SeatDemandMeter(this.#virtualAtMs)
  }

  get idle(): boolean {
    return this.#executing === 0 && this.#waiting === 0 && this.#seatsInUse === 0
  }

  get seatsInUse(): number {
    return this.#seatsInUse
  }

  get waiting(): number {
    return this.#waiting
  }

  get limit(): number {
    return this.#limit
  }

  /** When there are fewer queues than before, requests in the others still get their turn. */
  configure(limits: QueuingLimits, seatLimit: number): void {
    this.#advance()
    this.#limits = limits
    this.#limit = seatLimit
    while (this.#queues.length < limits.queues) this.#queues.push(new Queue())
    this.#dispatchAll()
  }

  /**
   * Gives a ticket at once, the reason why there is none, or a place in a queue: then `decide` is called later, once.
   */
  enter(
    flow: Flow,
    work: WorkEstimate,
    decide: (outcome: Ticket | RejectReason) => void,
  ): Ticket | RejectReason | Waiter {
    const now = this.#advance()
    if (this.#limits.queues <= 0) {
      if (!this.#hasRoom(maxSeats(work))) return this.#reject(flow, 'concurrency-limit', 0)
      return this.#execute(undefined, flow, work, now, 0)
    }
    const queue = this.#chooseQueue(flow)
    if (this.#waiting === 0 && this.#mayTake(flow, maxSeats(work)) && this.#hasRoom(maxSeats(work))) {
      if (queue.executing === 0) this.#activate(queue)
      return this.#execute(queue, flow, work, now, 0)
    }
    const places = this.#limits.queueLengthLimit * (this.#seatsInUse >= this.#limit ? 1 : HELD_BACK_FACTOR)
    if (queue.waiting.length >= places) return this.#reject(flow, 'queue-full', 0)
    const waiter = new Waiter(queue, flow, work, { ms: now, virtual: this.#virtual })
    this.#enqueue(waiter)
    // Waiting requests may be too wide for the free seats, and this one not.
    this.#dispatchAll()
    if (waiter.outcome !== undefined) return waiter.outcome
    waiter.decide = decide
    return waiter
  }

  /** Takes a waiting request out of its queue; no effect once it was decided. */
  cancel(waiter: Waiter, reason: RejectReason): void {
    const { queue } = waiter
    const at = queue.waiting.indexOf(waiter)
    if (at < 0) return
    const now = this.#advance()
    queue.waiting.splice(at, 1)
    this.#unqueued(waiter, now)
    this.#bound(queue)
    if (queue.waiting.length === 0 && queue.executing === 0) this.#activeQueues--
    waiter.settle(this.#reject(waiter.flow, reason, now - waiter.arrivedMs))
    this.#dispatchAll()
  }

  leave(ticket: Ticket, longRunning = false): void {
    if (ticket.left) return
    ticket.left = true
    const now = this.#advance()
    const { work, queue, flow } = ticket
    const elapsed = now - ticket.startedMs
    this.#executing--
    this.#recorder.finished(this.name, flow.schema, maxSeats(work), elapsed, longRunning)
    if (queue !== undefined) {
      queue.executing--
      // The guess is corrected: a request that took longer puts its queue further back.
      queue.start += (elapsed - GUESSED_SERVICE_MS) * work.initialSeats
      this.#bound(queue)
      if (queue.waiting.length === 0 && queue.executing === 0) this.#activeQueues--
    }
    if (work.additionalMs > 0) {
      this.#clock.after(work.additionalMs, () => {
        this.#release(ticket, this.#advance())
        this.#dispatchAll()
      })
      return
    }
    this.#release(ticket, now)
    if (this.#waiting > 0) this.#dispatchAll()
  }

  #release({ work, queue, flow }: Ticket, now: number): void {
    const seats = maxSeats(work)
    this.#seatsInUse -= seats
    flow.seatsInUse -= seats
    if (queue !== undefined) queue.seatsInUse -= seats
    this.demand.set(this.#seatsInUse + this.#seatsWaiting, now)
  }

  /** Brings virtual time up to now. */
  #advance(): number {
    const now = this.#clock.monotonicMs()
    if (this.#activeQueues > 0) {
      const served = Math.min(this.#seatsInUse + this.#seatsWaiting, this.#limit)
      this.#virtual += (Math.max(0, now - this.#virtualAtMs) * served) / this.#activeQueues
    }
    this.#virtualAtMs = now
    return now
  }

  /** A flow never takes all seats, but it may always have one request. */
  #mayTake(flow: Flow, seats: number): boolean {
    return flow.seatsInUse === 0 || flow.seatsInUse + seats <= this.#limit - Math.floor(this.#limit * FREE_FRACTION)
  }

  #hasRoom(seats: number): boolean {
    if (this.#limits.queues < 0) return true
    // A request that is wider than the whole level runs alone.
    if (seats > this.#limit) return this.#executing === 0
    return this.#seatsInUse + seats <= this.#limit
  }

  /**
   * Chooses the queue of the hand with the least work. The rotation keeps flows with overlapping hands from meeting in
   * the same queue.
   */
  #chooseQueue({ hand }: Flow): Queue {
    const size = hand.length
    const offset = this.#turn++ % size
    let best = this.#queues[hand[offset]!]!
    for (let i = 1; i < size && best.waitingWork > 0; i++) {
      const queue = this.#queues[hand[(offset + i) % size]!]!
      if (queue.waitingWork < best.waitingWork) best = queue
    }
    return best
  }

  #activate(queue: Queue): void {
    queue.start = this.#virtual
    this.#activeQueues++
  }

  #enqueue(waiter: Waiter): void {
    const { queue, work, flow } = waiter
    if (queue.waiting.length === 0 && queue.executing === 0) this.#activate(queue)
    queue.waiting.push(waiter)
    queue.waitingWork += totalWork(work)
    const seats = maxSeats(work)
    this.#waiting++
    this.#seatsWaiting += seats
    this.demand.set(this.#seatsInUse + this.#seatsWaiting, this.#virtualAtMs)
    this.#recorder.queued(this.name, flow.schema, 1, seats, queue.waiting.length)
  }

  #unqueued({ queue, work, flow }: Waiter, now: number): void {
    const seats = maxSeats(work)
    queue.waitingWork = queue.waiting.length === 0 ? 0 : queue.waitingWork - totalWork(work)
    this.#waiting--
    this.#seatsWaiting -= seats
    this.demand.set(this.#seatsInUse + this.#seatsWaiting, now)
    this.#recorder.queued(this.name, flow.schema, -1, seats, queue.waiting.length)
  }

  /** A queue that was idle or quick does not save up time for later: its next request starts no earlier than it arrived. */
  #bound(queue: Queue): void {
    const oldest = queue.waiting[0]
    if (oldest !== undefined && queue.start < oldest.arrivedVirtual) queue.start = oldest.arrivedVirtual
  }

  #execute(queue: Queue | undefined, flow: Flow, work: WorkEstimate, now: number, waitMs: number): Ticket {
    const seats = maxSeats(work)
    this.#executing++
    this.#seatsInUse += seats
    flow.seatsInUse += seats
    if (queue !== undefined) {
      queue.executing++
      queue.seatsInUse += seats
      queue.start += totalWork(work)
    }
    this.demand.set(this.#seatsInUse + this.#seatsWaiting, now)
    this.#recorder.dispatched(this.name, flow.schema, seats, waitMs)
    return new Ticket(flow, queue, work, now)
  }

  #reject(flow: Flow, reason: RejectReason, waitMs: number): RejectReason {
    this.#recorder.rejected(this.name, flow.schema, reason, waitMs)
    return reason
  }

  #dispatchAll(): void {
    while (this.#waiting > 0 && this.#seatsInUse < this.#limit) {
      const queue = this.#nextQueue()
      if (queue === undefined) return
      const waiter = queue.waiting.shift()!
      const now = this.#virtualAtMs
      this.#unqueued(waiter, now)
      const ticket = this.#execute(queue, waiter.flow, this.#fitted(waiter.work), now, now - waiter.arrivedMs)
      this.#bound(queue)
      waiter.settle(ticket)
    }
  }

  /** Final seats that the level does not have are taken as time instead: the work is the same. */
  #fitted(work: WorkEstimate): WorkEstimate {
    if (work.finalSeats <= this.#limit || this.#limit <= 0) return work
    return {
      ...work,
      finalSeats: this.#limit,
      additionalMs: (work.finalSeats * work.additionalMs) / this.#limit,
    }
  }

  /** The queue whose oldest request finishes first in virtual time; undefined while that request does not fit. */
  #nextQueue(): Queue | undefined {
    const queues = this.#queues
    let best: Queue | undefined
    let bestIndex = 0
    let bestFinish = Number.POSITIVE_INFINITY
    for (let i = 1; i <= queues.length; i++) {
      const index = (this.#robin + i) % queues.length
      const queue = queues[index]!
      const oldest = queue.waiting[0]
      if (oldest === undefined || !this.#mayTake(oldest.flow, maxSeats(oldest.work))) continue
      const finish = queue.start + totalWork(oldest.work)
      if (finish < bestFinish) {
        bestFinish = finish
        best = queue
        bestIndex = index
      }
    }
    if (best === undefined) return undefined
    const { work, flow } = best.waiting[0]!
    if (!this.#hasRoom(maxSeats(work))) {
      this.#recorder.noRoom(this.name, flow.schema)
      return undefined
    }
    this.#robin = bestIndex
    return best
  }
}
