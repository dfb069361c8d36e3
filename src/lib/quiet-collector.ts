/**
 * Thread: any. Gives back what a thread took in a burst of work. V8 collects when a heap has to grow, not when its thread has gone
 * quiet: after a start or a load, nearly half of every heap is garbage and empty pages, and stays so (docs/adr/0037-memory.md). So the
 * thread looks at itself every second, and collects when it made hardly anything new for six of them and has grown since it collected
 * last. Six, because V8 keeps the young generation large until it has seen little allocated for five seconds; once more soon after,
 * because what the first collection finds it does not give back at once.
 *
 * Under a light load that never ends V8 lets a heap grow to some four times of what lives in it before it collects: a main thread of 27 MB
 * had 98 MB after twenty minutes. So a thread of which little lives, and which has grown, also collects when nobody did for two minutes.
 *
 * What was made new says it, not how busy the thread was: under a light load a thread is idle for 98 % of the time and still needs
 * what it would give back, and on a busy machine a thread with nothing to do looks busy.
 */
import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from './collect-garbage.js'

/** Whoever made less than this since the last look is quiet: a single write makes a tenth of it. */
const QUIET_BYTES = 512 * 1024
/** So many looks in a row. */
const QUIET_LOOKS = 6
/** So many looks after a collection comes the second one. */
const SECOND_LOOKS = 4
/** What a quiet thread may have grown since its last collection: controllers that renew a lease need an hour for as much. */
const GROWN_BYTES = 8 * 1024 * 1024

/** So many looks without a collection of the whole heap are long. */
const LONG_LOOKS = 120
/** What a thread may have grown by then. */
const LONG_GROWN_BYTES = 16 * 1024 * 1024
/** A collection stands still for about a millisecond a megabyte that lives: where more lives than this, V8 decides alone. */
const LIGHT_BYTES = 64 * 1024 * 1024

export interface ThreadMemory {
  /** What objects take, garbage included. */
  readonly usedBytes: number
  /** The pages of the heap, empty ones included, and what objects hold outside of it. */
  readonly takenBytes: number
}

export class QuietCollector {
  readonly #memory: () => ThreadMemory
  readonly #collect: () => void
  /** What the thread had taken after its last collection. */
  #keptBytes = 0
  #usedBytes = 0
  #isSecondDue = false
  #quietLooks = 0
  /** Looks since the whole heap was collected, by whomever. */
  #looks = 0
  /** What lived after the last collection of this collector's own. */
  #liveBytes = 0

  constructor(memory = threadMemory, collect = collectGarbage) {
    this.#memory = memory
    this.#collect = collect
  }

  look(): void {
    const { usedBytes, takenBytes } = this.#memory()
    // Less than before: V8 has collected meanwhile, which it does when much is made.
    const isQuiet = Math.abs(usedBytes - this.#usedBytes) < QUIET_BYTES
    this.#usedBytes = usedBytes
    this.#quietLooks = isQuiet ? this.#quietLooks + 1 : 0
    this.#looks++
    const grownBytes = takenBytes - this.#keptBytes
    const hasGrown = grownBytes >= GROWN_BYTES
    if ((hasGrown || this.#isSecondDue) && this.#quietLooks >= (hasGrown ? QUIET_LOOKS : SECOND_LOOKS)) {
      this.#isSecondDue = hasGrown
      this.#collectNow()
    } else if (this.#looks >= LONG_LOOKS && grownBytes >= LONG_GROWN_BYTES && this.#liveBytes <= LIGHT_BYTES)
      this.#collectNow()
  }

  /** V8 has collected the whole heap by itself. */
  collected(): void {
    this.#looks = 0
  }

  #collectNow(): void {
    this.#quietLooks = 0
    this.#looks = 0
    this.#collect()
    const { usedBytes, takenBytes } = this.#memory()
    this.#keptBytes = takenBytes
    this.#usedBytes = usedBytes
    this.#liveBytes = usedBytes
  }
}

function threadMemory(): ThreadMemory {
  const { used_heap_size, total_heap_size, external_memory } = getHeapStatistics()
  return { usedBytes: used_heap_size + external_memory, takenBytes: total_heap_size + external_memory }
}
