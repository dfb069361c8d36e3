/**
 * Thread: any. Where a thread counts: a page of shared memory that it alone writes and main reads when somebody scrapes.
 * Nobody is asked, so a scrape waits for no thread, and what a thread had counted is still there when it has died.
 *
 *   header     Int32[4]      [0] bytes of the directory in use (published last, Atomics)  [1] cells in use
 *   directory  append-only   family id u16, first cell u32, length u16, label values as UTF-8 with NUL between
 *   cells      Float64[]     plain stores: a scrape may miss the newest one, it never sees half of one on 64-bit machines
 */
import { assert } from '../lib/assert.js'
import type { MetricsPage } from '../protocol/metrics-line.js'

const HEADER_BYTES = 16
const ENTRY_HEAD_BYTES = 8
const USED = 0
const CELLS = 1

/** A page holds some thousand series; a thread that has more takes another page. */
export const PAGE_SIZE: MetricsPage['size'] = { directoryBytes: 128 * 1024, cells: 32 * 1024 }

interface Views {
  readonly header: Int32Array
  readonly bytes: Uint8Array
  readonly data: DataView
  readonly cells: Float64Array
}

function viewsOf({ memory, size }: MetricsPage): Views {
  return {
    header: new Int32Array(memory, 0, 4),
    bytes: new Uint8Array(memory, HEADER_BYTES, size.directoryBytes),
    data: new DataView(memory, HEADER_BYTES, size.directoryBytes),
    cells: new Float64Array(memory, HEADER_BYTES + size.directoryBytes, size.cells),
  }
}

/** The end of a page that its thread writes. */
export class CellPage {
  readonly handle: MetricsPage
  readonly cells: Float64Array
  readonly #views: Views

  constructor(size: MetricsPage['size'] = PAGE_SIZE) {
    assert(size.directoryBytes % 8 === 0, 'cells are aligned')
    const memory = new SharedArrayBuffer(HEADER_BYTES + size.directoryBytes + size.cells * 8)
    this.handle = { memory, size }
    this.#views = viewsOf(this.handle)
    this.cells = this.#views.cells
  }

  /** The first of `count` new cells, or undefined when the page is full. */
  add(family: number, labels: Uint8Array, count: number): number | undefined {
    const { header, bytes, data } = this.#views
    const { size } = this.handle
    const at = header[USED]!
    const first = header[CELLS]!
    const length = ENTRY_HEAD_BYTES + labels.byteLength
    if (at + length > size.directoryBytes || first + count > size.cells) return undefined
    data.setUint16(at, family)
    data.setUint32(at + 2, first)
    data.setUint16(at + 6, labels.byteLength)
    bytes.set(labels, at + ENTRY_HEAD_BYTES)
    header[CELLS] = first + count
    Atomics.store(header, USED, at + length)
    return first
  }
}

export interface PageEntry {
  readonly family: number
  readonly cell: number
  /** The values of the labels, with NUL between them. */
  readonly labels: string
}

/** The end of a page that main reads; it remembers what it has read of the directory. */
export class CellPageReader {
  readonly entries: PageEntry[] = []
  readonly cells: Float64Array
  readonly #views: Views
  #read = 0

  constructor(handle: MetricsPage) {
    this.#views = viewsOf(handle)
    this.cells = this.#views.cells
  }

  /** Takes in the series that are new since the last call. */
  refresh(): void {
    const { header, bytes, data } = this.#views
    const used = Atomics.load(header, USED)
    while (this.#read < used) {
      const at = this.#read
      const length = data.getUint16(at + 6)
      const start = at + ENTRY_HEAD_BYTES
      // A copy, because TextDecoder refuses shared memory.
      const labels = Buffer.from(bytes.slice(start, start + length)).toString('utf8')
      this.entries.push({ family: data.getUint16(at), cell: data.getUint32(at + 2), labels })
      this.#read = start + length
    }
  }
}
