/**
 * Thread: any. When each write that is under way reached each of its stages, in memory that main and the pool threads
 * share. While nobody looks, a mark costs the reading of one word.
 *
 *   word 0             1 while somebody looks. Writer: main.
 *   byte 8 + a row     of each slot (SlottedTask): a time for each stage, in microseconds of the system's monotonic clock.
 *                      Writer: whoever has the task then; each hands the row on together with the task.
 */
export const STAGES = ['arrived', 'posted', 'begun', 'handed', 'stored', 'answered', 'received', 'written'] as const
export type Stage = (typeof STAGES)[number]
/** The time of each stage, in the order of STAGES; 0 for one that was not reached. */
export type StageRow = readonly number[]

const LOOKING = 0
const ROWS_BYTE = 8

const PLACE_OF: Readonly<Record<Stage, number>> = Object.fromEntries(
  STAGES.map((stage, place) => [stage, place]),
) as Record<Stage, number>

export class StageTimes {
  readonly memory: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #times: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#words = new Int32Array(memory, 0, 1)
    this.#times = new Float64Array(memory, ROWS_BYTE)
  }

  static create(slots: number): StageTimes {
    return new StageTimes(new SharedArrayBuffer(ROWS_BYTE + slots * STAGES.length * Float64Array.BYTES_PER_ELEMENT))
  }

  get on(): boolean {
    return Atomics.load(this.#words, LOOKING) === 1
  }

  set on(on: boolean) {
    Atomics.store(this.#words, LOOKING, on ? 1 : 0)
  }

  /** `slot` may be NO_SLOT: such a task is not followed. */
  mark(slot: number, stage: Stage): void {
    if (slot >= 0 && this.on) this.#times[slot * STAGES.length + PLACE_OF[stage]] = microseconds()
  }

  clear(slot: number): void {
    this.#times.fill(0, slot * STAGES.length, (slot + 1) * STAGES.length)
  }

  row(slot: number): number[] {
    return [...this.#times.subarray(slot * STAGES.length, (slot + 1) * STAGES.length)]
  }
}

/** The same clock in every thread; performance.now() counts from the start of its own. */
export function microseconds(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e6 + nanoseconds / 1e3
}
