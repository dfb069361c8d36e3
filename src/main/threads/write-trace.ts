/**
 * Thread: main. Follows writes through their stages while somebody looks (/debug/writes), and says how long they were in
 * each: where the time of a write goes when no thread is busy. Of a request that came through a front end in a thread
 * of its own, main knows only what it did itself.
 */
import { newTooManyRequests } from '../../api/status.js'
import { type Clock, pause } from '../../lib/clock.js'
import { microseconds, STAGES, type StageRow, StageTimes } from '../../protocol/stage-times.js'
import type { Caller } from './caller.js'

/** The most writes that a look takes in; later ones are not counted. */
const MAX_SAMPLES = 20_000
const ARRIVED = STAGES.indexOf('arrived')
const POSTED = STAGES.indexOf('posted')
const RECEIVED = STAGES.indexOf('received')
const WRITTEN = STAGES.indexOf('written')

export class WriteTrace {
  readonly times: StageTimes
  readonly #clock: Clock
  /** Those of the look under way; one at a time looks. */
  #samples: StageRow[] | undefined

  /** `slots`: the most tasks that may be under way at once. */
  constructor(slots: number, clock: Clock) {
    this.times = StageTimes.create(slots)
    this.#clock = clock
  }

  /** Follows a write from its posting on; called before it is posted. */
  async follow<T>(slot: number, caller: Caller | undefined, run: () => Promise<T>): Promise<T> {
    this.times.clear(slot)
    this.times.mark(slot, 'posted')
    const result = await run()
    this.times.mark(slot, 'received')
    // The slot is another write's soon; the answer is written a few steps later.
    this.#complete(this.times.row(slot), caller)
    return result
  }

  #complete(row: number[], caller: Caller | undefined): void {
    if (caller?.startedMs === undefined) {
      row[ARRIVED] = row[POSTED]!
      row[WRITTEN] = row[RECEIVED]!
      this.#add(row)
      return
    }
    row[ARRIVED] = microseconds() - (this.#clock.monotonicMs() - caller.startedMs) * 1000
    caller.onGone(() => {
      row[WRITTEN] = microseconds()
      this.#add(row)
    })
  }

  #add(row: StageRow): void {
    // What was refused, or was under way when the look began, lacks a stage.
    if (row.some((time) => time === 0)) return
    if (this.#samples !== undefined && this.#samples.length < MAX_SAMPLES) this.#samples.push(row)
  }

  /** Looks for so long, then tells: a line for each stage, in microseconds. Rejects while another look is under way. */
  async look(seconds: number): Promise<string> {
    if (this.#samples !== undefined) throw newTooManyRequests('somebody else follows writes already', 1)
    const samples: StageRow[] = []
    this.#samples = samples
    this.times.on = true
    await pause(this.#clock, seconds * 1000)
    this.times.on = false
    this.#samples = undefined
    return report(samples, seconds)
  }
}

function report(samples: readonly StageRow[], seconds: number): string {
  const head = `${samples.length} writes in ${seconds} s; microseconds\n${'stage'.padEnd(24)}${titles()}\n`
  if (samples.length === 0) return head
  const steps = STAGES.slice(1).map((stage, i) => line(`${STAGES[i]!} → ${stage}`, samples, i, i + 1))
  return `${head}${steps.join('')}${line('all', samples, 0, STAGES.length - 1)}`
}

const titles = (): string => ['mean', 'median', '99 %'].map((title) => title.padStart(10)).join('')

function line(name: string, samples: readonly StageRow[], from: number, to: number): string {
  const spans = samples.map((row) => row[to]! - row[from]!).sort((a, b) => a - b)
  const mean = spans.reduce((sum, span) => sum + span, 0) / spans.length
  const at = (part: number): number => spans[Math.min(spans.length - 1, Math.floor(spans.length * part))]!
  const figures = [mean, at(0.5), at(0.99)].map((figure) => figure.toFixed(0).padStart(10))
  return `${name.padEnd(24)}${figures.join('')}\n`
}
