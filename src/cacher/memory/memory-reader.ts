/** Thread: any. Everything that one thread reads of a storage cluster's memory: the clock and the arenas by name. */
import type { MessagePort } from 'node:worker_threads'
import { RevisionClockReader } from '../clock/revision-clock-reader.js'
import { SharedArenaReader } from './arena-reader.js'
import { ReleasedSegments } from './released-segments.js'
import { PortSegmentSource, type SegmentMessage, type SegmentSource } from './segment-feed.js'
import { SegmentTable } from './segment-table.js'

export interface MemoryReaderOptions {
  /** The number that the owner gave this thread. */
  readonly reader: number
  readonly clock: SharedArrayBuffer
  readonly source: SegmentSource
}

interface Arena {
  readonly name: string
  readonly table: SegmentTable
  reader?: SharedArenaReader
}

export class MemoryReader {
  readonly clock: RevisionClockReader
  readonly number: number
  readonly #source: SegmentSource
  readonly #arenas = new Map<number, Arena>()
  readonly #byName = new Map<string, Arena>()
  readonly #clockRevision: () => number
  readonly #drain = (): void => this.drain()
  readonly #released = new ReleasedSegments()
  #epoch = 0

  constructor({ reader, clock, source }: MemoryReaderOptions) {
    this.number = reader
    this.clock = new RevisionClockReader(clock)
    this.#source = source
    this.#clockRevision = () => this.clock.revision()
  }

  /** From now on the thread takes in and lets go of segments also while it reads nothing. */
  start(): void {
    this.#source.listen((message) => this.#take(message))
  }

  /** Makes the reader of a thread that was sent a ReaderHandoff. */
  static open(handoff: { reader: number; clock: SharedArrayBuffer; port: MessagePort }): MemoryReader {
    const { reader, clock, port } = handoff
    return new MemoryReader({ reader, clock, source: new PortSegmentSource(port) })
  }

  /**
   * The arena of this name that is not closed. Ask each time rather than keep it: an arena that was dropped may have
   * come again, under the same name.
   */
  arena(name: string): SharedArenaReader | undefined {
    this.drain()
    const arena = this.#byName.get(name)
    if (arena === undefined) return undefined
    arena.reader ??= new SharedArenaReader({
      table: arena.table,
      reader: this.number,
      clockRevision: this.#clockRevision,
      drain: this.#drain,
    })
    return arena.reader
  }

  /** The size of all segments that this thread keeps alive; for tests and for the process's own report. */
  heldBytes(): number {
    let bytes = 0
    for (const { table } of this.#arenas.values())
      for (const [, { buffer }] of table.entries()) bytes += buffer.byteLength
    return bytes
  }

  /** Takes in what the owner sent; when that is nothing, it costs one load. */
  drain(): void {
    const epoch = this.clock.epoch()
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    for (let message = this.#source.receive(); message !== undefined; message = this.#source.receive())
      this.#take(message)
  }

  #take(message: SegmentMessage): void {
    if ('buffer' in message) {
      let arena = this.#arenas.get(message.arena)
      if (arena === undefined) {
        arena = { name: message.name, table: new SegmentTable(this.#released.add) }
        this.#arenas.set(message.arena, arena)
        this.#byName.set(message.name, arena)
      }
      arena.table.set(message.index, message.buffer)
      return
    }
    const arena = this.#arenas.get(message.arena)
    if (arena === undefined) return
    if (message.index !== undefined) arena.table.set(message.index, undefined)
    else {
      // Snapshots that are being read keep the arena's table; it goes with the last of them.
      for (const [, { buffer }] of arena.table.entries()) this.#released.add(buffer)
      this.#arenas.delete(message.arena)
      if (this.#byName.get(arena.name) === arena) this.#byName.delete(arena.name)
    }
  }
}
