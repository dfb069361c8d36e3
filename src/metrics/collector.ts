/**
 * Thread: main. The sums over all threads' pages. A page whose thread has ended is folded into what is kept: counters and
 * histograms never go back, its gauges are gone with it. A series is one object for as long as the process lives, so
 * that a scrape looks nothing up: it goes over cells.
 */
import type { MetricsPage } from '../protocol/metrics-line.js'
import { CellPageReader } from './cell-page.js'
import { cellsOf, type Family } from './family.js'

/** The numbers of one series, one for each of its cells. */
export interface Sum {
  readonly labels: readonly string[]
  readonly cells: Float64Array
}

class RunningSum implements Sum {
  readonly labels: readonly string[]
  readonly cells: Float64Array
  readonly family: Family
  /** What threads that are gone have counted; undefined when none had the series. */
  kept: Float64Array | undefined
  /** Whether some thread has a value. */
  shown = false

  constructor(family: Family, labels: string) {
    this.family = family
    this.labels = family.labels.length === 0 ? [] : labels.split('\0')
    this.cells = new Float64Array(cellsOf(family))
  }

  restart(): void {
    this.shown = this.kept !== undefined
    if (this.kept === undefined) this.cells.fill(0)
    else this.cells.set(this.kept)
  }

  add(from: Float64Array, first: number): void {
    const { cells, family } = this
    if (Number.isNaN(from[first])) return
    // A histogram that has seen nothing is not shown.
    if (family.type === 'histogram' && isZero(from, first, cells.length)) return
    if (family.merge === 'max') cells[0] = this.shown ? Math.max(cells[0]!, from[first]!) : from[first]!
    else for (let i = 0; i < cells.length; i++) cells[i]! += from[first + i]!
    this.shown = true
  }

  /** Keeps what a thread that has ended had counted. */
  keep(from: Float64Array, first: number): void {
    const { length } = this.cells
    if (this.family.type === 'gauge' || isZero(from, first, length)) return
    this.kept ??= new Float64Array(length)
    for (let i = 0; i < length; i++) this.kept[i]! += from[first + i]!
  }
}

interface Page {
  readonly reader: CellPageReader
  /** The sum of each entry of the page. */
  readonly sums: (RunningSum | undefined)[]
}

export class Collector {
  readonly #families: readonly Family[]
  readonly #pages = new Map<number, Page[]>()
  readonly #sums = new Map<Family, Map<string, RunningSum>>()

  /** `families`: each at its id. */
  constructor(families: readonly Family[]) {
    this.#families = families
  }

  addPage(thread: number, page: MetricsPage): void {
    const pages = this.#pages.get(thread)
    const added = { reader: new CellPageReader(page), sums: [] }
    if (pages === undefined) this.#pages.set(thread, [added])
    else pages.push(added)
  }

  threadEnded(thread: number): void {
    const pages = this.#pages.get(thread)
    if (pages === undefined) return
    this.#pages.delete(thread)
    for (const page of pages) {
      this.#refresh(page)
      const { entries, cells } = page.reader
      for (const [i, sum] of page.sums.entries()) sum?.keep(cells, entries[i]!.cell)
    }
  }

  /**
   * The sums by family, in the order in which series came. They are the same objects every time, and valid until the
   * next call.
   */
  collect(): Map<Family, Sum[]> {
    for (const pages of this.#pages.values()) for (const page of pages) this.#refresh(page)
    for (const sums of this.#sums.values()) for (const sum of sums.values()) sum.restart()
    for (const pages of this.#pages.values()) {
      for (const { reader, sums } of pages) {
        const { entries, cells } = reader
        for (let i = 0; i < sums.length; i++) sums[i]?.add(cells, entries[i]!.cell)
      }
    }
    const shown = new Map<Family, Sum[]>()
    for (const [family, sums] of this.#sums) {
      const some = [...sums.values()].filter((sum) => sum.shown)
      if (some.length > 0) shown.set(family, some)
    }
    return shown
  }

  /** Finds the sums of series that are new in a page. */
  #refresh({ reader, sums }: Page): void {
    reader.refresh()
    for (let i = sums.length; i < reader.entries.length; i++) {
      const { family, labels } = reader.entries[i]!
      sums.push(this.#sumOf(this.#families[family], labels))
    }
  }

  #sumOf(family: Family | undefined, labels: string): RunningSum | undefined {
    if (family === undefined) return undefined
    let sums = this.#sums.get(family)
    if (sums === undefined) {
      sums = new Map()
      this.#sums.set(family, sums)
    }
    let sum = sums.get(labels)
    if (sum === undefined) {
      sum = new RunningSum(family, labels)
      sums.set(labels, sum)
    }
    return sum
  }
}

function isZero(cells: Float64Array, first: number, count: number): boolean {
  for (let i = first; i < first + count; i++) if (cells[i] !== 0) return false
  return true
}
