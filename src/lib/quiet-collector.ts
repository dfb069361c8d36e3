/**
 * Thread: any. Gives back what a thread took in a burst of work. V8 collects when a heap has to grow, not when its thread has gone
 * quiet: after a start or a load, nearly half of every heap is garbage and empty pages, and stays so (docs/adr/0037-memory.md). So the
 * thread looks at itself every second, and collects when it did hardly anything for two of them and has grown since it collected
 * last. It does so twice: V8 keeps the young generation large until little is allocated, which the first time it does not see yet.
 */
import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from './collect-garbage.js'

/** A thread that was busy for a smaller part of the time since the last look is quiet. */
const QUIET_UTILIZATION = 0.05
/** So many looks in a row: between the requests of a burst there may be one. */
const QUIET_LOOKS = 2
/** What a quiet thread may have grown since its last collection: controllers that renew a lease need an hour for as much. */
const GROWN_BYTES = 8 * 1024 * 1024

export class QuietCollector {
  readonly #takenBytes: () => number
  readonly #collect: () => void
  /** What the thread had taken after its last collection. */
  #keptBytes = 0
  #isSecondDue = false
  #quietLooks = 0

  constructor(takenBytes = heapBytes, collect = collectGarbage) {
    this.#takenBytes = takenBytes
    this.#collect = collect
  }

  /** `utilization`: the part of the time since the last look in which the thread was busy. */
  look(utilization: number): void {
    this.#quietLooks = utilization > QUIET_UTILIZATION ? 0 : this.#quietLooks + 1
    if (this.#quietLooks < QUIET_LOOKS) return
    const hasGrown = this.#takenBytes() - this.#keptBytes >= GROWN_BYTES
    if (!hasGrown && !this.#isSecondDue) return
    this.#isSecondDue = hasGrown
    this.#collect()
    this.#keptBytes = this.#takenBytes()
  }
}

/** The pages of the heap, empty ones included, and what objects hold outside of it. */
function heapBytes(): number {
  const { total_heap_size, external_memory } = getHeapStatistics()
  return total_heap_size + external_memory
}
