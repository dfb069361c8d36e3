/**
 * Thread: any. How a thread counts. A series is found once by its labels and kept by who needs it often; counting is then
 * an addition to a cell.
 */
import type { MetricsPage } from '../protocol/metrics-line.js'
import { CellPage } from './cell-page.js'
import { cellsOf, type Family } from './family.js'

export interface Series {
  /** Adds to a counter or a gauge. */
  add(amount: number): void
  /** Sets a gauge. */
  set(value: number): void
  /** Counts a value in a histogram, `times` over. */
  observe(value: number, times?: number): void
  /** Takes the value of a gauge away, so that it is not shown. */
  clear(): void
}

/** The most series of a family: names that clients choose must not become labels without end. */
const MAX_SERIES = 4096
/**
 * The longest labels of a series, all together: a client may choose a part of them, such as the method of a request that is passed
 * on. Longer ones are counted for nobody and not remembered; a page could not hold them (cell-page.ts).
 */
const MAX_LABELS_LENGTH = 4096

export class Recorder {
  readonly #publish: (page: MetricsPage) => void
  readonly #series = new Map<Family, Map<string, Series>>()
  #page: CellPage | undefined

  /** `publish` tells main of a page, once for each. */
  constructor(publish: (page: MetricsPage) => void) {
    this.#publish = publish
  }

  /** The series with these label values, in the order of the family's labels. */
  series(family: Family, ...labels: readonly string[]): Series {
    let known = this.#series.get(family)
    if (known === undefined) {
      known = new Map()
      this.#series.set(family, known)
    }
    const key = labels.length === 1 ? labels[0]! : labels.join('\0')
    if (key.length > MAX_LABELS_LENGTH) return NOBODY
    const found = known.get(key)
    if (found !== undefined) return found
    const made = known.size >= MAX_SERIES ? NOBODY : this.#make(family, key)
    if (known.size < MAX_SERIES) known.set(key, made)
    return made
  }

  #make(family: Family, labels: string): Series {
    const bytes = Buffer.from(labels)
    const count = cellsOf(family)
    let first = this.#page?.add(family.id, bytes, count)
    if (first === undefined) {
      this.#page = new CellPage()
      first = this.#page.add(family.id, bytes, count)
      this.#publish(this.#page.handle)
    }
    if (first === undefined || this.#page === undefined) return NOBODY
    return new CellSeries(this.#page.cells, first, family.buckets)
  }
}

class CellSeries implements Series {
  readonly #cells: Float64Array
  readonly #first: number
  readonly #buckets: readonly number[]

  constructor(cells: Float64Array, first: number, buckets: readonly number[]) {
    this.#cells = cells
    this.#first = first
    this.#buckets = buckets
  }

  add(amount: number): void {
    this.#cells[this.#first]! += amount
  }

  set(value: number): void {
    this.#cells[this.#first] = value
  }

  observe(value: number, times = 1): void {
    const buckets = this.#buckets
    let i = 0
    while (i < buckets.length && value > buckets[i]!) i++
    this.#cells[this.#first + i]! += times
    this.#cells[this.#first + buckets.length + 1]! += value * times
  }

  clear(): void {
    this.#cells[this.#first] = Number.NaN
  }
}

const nothing = (): void => undefined
const NOBODY: Series = { add: nothing, set: nothing, observe: nothing, clear: nothing }

/** A recorder that counts for nobody: for tests, and parts that run without metrics. */
export const noRecorder = (): Recorder => new Recorder(nothing)
