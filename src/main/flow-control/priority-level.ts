/** Thread: any. One priority level: its seats, what it lends and borrows, and the queues of its requests. */
import type { Clock } from '../../lib/clock.js'
import type { PriorityLevelConfiguration } from './configuration.js'
import type { FlowRecorder } from './flow-recorder.js'
import { QueueSet, type QueuingLimits } from './queue-set.js'
import { RetryAfter } from './retry-after.js'

/** The part of a level's seats that one request may have. */
const MAX_SEATS_FRACTION = 0.15

export class PriorityLevel {
  readonly name: string
  readonly queues: QueueSet
  readonly retryAfter = new RetryAfter()
  readonly #recorder: FlowRecorder
  uid = ''
  exempt = false
  /** No schema leads to the level any more; it is removed when it is empty. */
  quiescing = false
  shares = 0
  nominalSeats = 0
  /** The seats that the level never lends. */
  lowerSeats = 0
  /** The seats that the level never borrows beyond. */
  upperSeats = 0
  currentSeats = 0
  /** The most seats of one request; 0 without queues, where the estimate's own limit holds. */
  maxRequestSeats = 0
  #lendablePercent = 0
  #borrowingLimitPercent: number | undefined
  #queuing: QueuingLimits & { readonly handSize: number } = { queues: 0, handSize: 0, queueLengthLimit: 0 }
  #started = false

  constructor(name: string, clock: Clock, recorder: FlowRecorder) {
    this.name = name
    this.#recorder = recorder
    this.queues = new QueueSet({ name, clock, recorder })
  }

  get handSize(): number {
    return this.#queuing.handSize
  }

  get deckSize(): number {
    return this.#queuing.queues
  }

  read({ metadata, spec }: PriorityLevelConfiguration): void {
    const { limited, exempt } = spec
    this.uid = metadata.uid ?? ''
    this.exempt = limited === undefined
    this.quiescing = false
    const common = limited ?? exempt ?? {}
    this.shares = common.nominalConcurrencyShares ?? (limited === undefined ? 0 : 30)
    this.#lendablePercent = common.lendablePercent ?? 0
    this.#borrowingLimitPercent = limited?.borrowingLimitPercent
    const queuing = limited?.limitResponse?.queuing
    this.#queuing =
      limited === undefined
        ? { queues: -1, handSize: 0, queueLengthLimit: 0 }
        : {
            queues: queuing?.queues ?? 0,
            handSize: queuing?.handSize ?? 0,
            queueLengthLimit: queuing?.queueLengthLimit ?? 0,
          }
  }

  /** Gives the level its part of all seats. */
  allot(totalSeats: number, totalShares: number): void {
    const nominal = totalShares === 0 ? 0 : Math.ceil((totalSeats * this.shares) / totalShares)
    const lendable = Math.round((nominal * this.#lendablePercent) / 100)
    const borrowable =
      this.#borrowingLimitPercent === undefined ? totalSeats : Math.round((nominal * this.#borrowingLimitPercent) / 100)
    this.nominalSeats = nominal
    this.lowerSeats = nominal - lendable
    this.upperSeats = nominal + borrowable
    if (this.#queuing.queues > 0) {
      const { handSize } = this.#queuing
      const most = Math.min(Math.ceil(nominal * MAX_SEATS_FRACTION), Math.floor(nominal / handSize))
      this.maxRequestSeats = Math.max(1, most)
    } else this.maxRequestSeats = 0
    if (!this.#started) {
      this.#started = true
      this.currentSeats = nominal - Math.trunc(lendable / 2)
    }
    this.#recorder.configured(this.name, { nominal, lower: this.lowerSeats, upper: this.upperSeats })
  }

  /** The seats that the level needed at its busiest, as far as they are its own. */
  lowerBound(): number {
    const { highWatermark } = this.queues.demand
    return this.exempt
      ? Math.max(this.lowerSeats, highWatermark)
      : Math.max(this.lowerSeats, Math.min(this.nominalSeats, highWatermark))
  }

  seat(seats: number, target: number): void {
    this.currentSeats = seats
    this.queues.configure(this.#queuing, seats)
    const { highWatermark, average, standardDeviation, smoothed } = this.queues.demand
    this.#recorder.adjusted(this.name, seats, { highWatermark, average, standardDeviation, smoothed, target })
  }
}
