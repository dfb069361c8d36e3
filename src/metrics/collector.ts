/**
 * Thread: main. The sums over all threads' pages. A page whose thread has ended is folded into what is kept: counters and
 * histograms never go back, its gauges are gone with it.
 */
import type { MetricsPage } from '../protocol/metrics-line.js'
import { CellPageReader } from './cell-page.js'
import { cellsOf, type Family } from './family.js'

/** Of one series: as many numbers as it has cells. */
export interface Sum {
  readonly labels: readonly string[]
  readonly cells: Float64Array
}

export class Collector {
  readonly #families: readonly Family[]
  readonly #pages = new Map<number, CellPageReader[]>()
  /** Of threads that are gone: by family, by labels. */
  readonly #kept = new Map<Family, Map<string, Float64Array>>()

  /** Families lie at their ids. */
  constructor(families: readonly Family[]) {
    this.#families = families
  }

  addPage(thread: number, page: MetricsPage): void {
    const pages = this.#pages.get(thread)
    if (pages === undefined) this.#pages.set(thread, [new CellPageReader(page)])
    else pages.push(new CellPageReader(page))
  }

  threadEnded(thread: number): void {
    const pages = this.#pages.get(thread)
    if (pages === undefined) return
    this.#pages.delete(thread)
    this.#sum(pages, this.#kept, (family) => family.type !== 'gauge')
  }

  /** By family, in the order in which series came. */
  collect(): Map<Family, Sum[]> {
    const sums = new Map<Family, Map<string, Float64Array>>()
    for (const [family, series] of this.#kept)
      sums.set(family, new Map([...series].map(([labels, cells]) => [labels, cells.slice()])))
    this.#sum([...this.#pages.values()].flat(), sums, () => true)
    return new Map(
      [...sums].map(([family, series]) => [
        family,
        [...series].map(([labels, cells]) => ({ labels: family.labels.length === 0 ? [] : labels.split('\0'), cells })),
      ]),
    )
  }

  #sum(
    pages: readonly CellPageReader[],
    into: Map<Family, Map<string, Float64Array>>,
    wanted: (family: Family) => boolean,
  ): void {
    for (const page of pages) {
      page.refresh()
      for (const entry of page.entries) {
        const family = this.#families[entry.family]
        if (family === undefined || !wanted(family)) continue
        const count = cellsOf(family)
        if (Number.isNaN(page.cells[entry.cell])) continue
        // One that has seen nothing yet says nothing.
        if (family.type === 'histogram' && isZero(page.cells, entry.cell, count)) continue
        let series = into.get(family)
        if (series === undefined) {
          series = new Map()
          into.set(family, series)
        }
        let total = series.get(entry.labels)
        if (total === undefined) {
          total = new Float64Array(count)
          series.set(entry.labels, total)
        }
        if (family.merge === 'max') total[0] = Math.max(total[0]!, page.cells[entry.cell]!)
        else for (let i = 0; i < count; i++) total[i]! += page.cells[entry.cell + i]!
      }
    }
  }
}

function isZero(cells: Float64Array, first: number, count: number): boolean {
  for (let i = first; i < first + count; i++) if (cells[i] !== 0) return false
  return true
}
