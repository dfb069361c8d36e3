/** Thread: owner. The arenas of one storage cluster, its clock, and the threads that read them. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { assert } from '../../lib/assert.js'
import { type Clock, systemClock } from '../../lib/clock.js'
import { RevisionClockWriter } from '../clock/revision-clock-writer.js'
import { type ArenaOptions, SharedArenaWriter } from './arena-writer.js'
import { MAX_READERS } from './memory-layout.js'
import { MemoryReader } from './memory-reader.js'
import { ReleasedSegments } from './released-segments.js'
import { LocalSegmentSource, type SegmentMessage } from './segment-feed.js'
import type { ArenaWriter } from './shared-memory.js'

/** What a thread needs to read the memory; `port` goes into the transfer list. */
export interface ReaderHandoff {
  readonly reader: number
  readonly clock: SharedArrayBuffer
  readonly port: MessagePort
}

interface Reader {
  send(message: SegmentMessage): void
  close(): void
}

interface Arena {
  readonly id: number
  readonly name: string
  readonly writer: SharedArenaWriter
}

/** An arena that tells its owner when it closes. */
class OwnedArena extends SharedArenaWriter {
  readonly #onClose: () => void

  constructor(
    options: ArenaOptions,
    onSegment: (index: number, buffer: SharedArrayBuffer | undefined) => void,
    onReleased: (buffer: SharedArrayBuffer) => void,
    onClose: () => void,
  ) {
    super(options, onSegment, onReleased)
    this.#onClose = onClose
  }

  override close(): void {
    super.close()
    this.#onClose()
  }
}

export class MemoryOwner {
  readonly clock = new RevisionClockWriter()
  readonly #time: Clock
  readonly #released = new ReleasedSegments()
  readonly #arenas = new Map<number, Arena>()
  readonly #readers: (Reader | undefined)[] = new Array<Reader | undefined>(MAX_READERS).fill(undefined)
  #nextArena = 1

  constructor({ clock = systemClock }: { clock?: Clock } = {}) {
    this.#time = clock
  }

  /** Names are unique among the arenas that are not closed. */
  createArena(name: string, options: ArenaOptions = {}): ArenaWriter {
    for (const arena of this.#arenas.values()) assert(arena.name !== name, `there is an arena ${name} already`)
    const id = this.#nextArena++
    const writer = new OwnedArena(
      { clock: this.#time, ...options },
      (index, buffer) => this.#send(buffer ? { arena: id, name, index, buffer } : { arena: id, index }),
      this.#released.add,
      () => {
        if (this.#arenas.delete(id)) this.#send({ arena: id })
      },
    )
    this.#arenas.set(id, { id, name, writer })
    return writer
  }

  /** Admits a thread. The handoff is to be posted to it; release() is to be called when the thread has ended. */
  connect(): ReaderHandoff {
    const { port1, port2 } = new MessageChannel()
    const reader = this.#admit({ send: (message) => port1.postMessage(message), close: () => port1.close() })
    port1.unref()
    return { reader, clock: this.clock.buffer, port: port2 }
  }

  /** A reader for the owner's own thread. */
  localReader(): MemoryReader {
    const source = new LocalSegmentSource()
    const reader = this.#admit({ send: (message) => source.send(message), close: () => undefined })
    return new MemoryReader({ reader, clock: this.clock.buffer, source })
  }

  /** The thread has ended or does not read any more: its pins go with it. */
  release(reader: number): void {
    this.#readers[reader]?.close()
    this.#readers[reader] = undefined
    for (const { writer } of this.#arenas.values()) writer.releaseReader(reader)
  }

  close(): void {
    for (const { writer } of [...this.#arenas.values()]) writer.close()
    for (let reader = 0; reader < MAX_READERS; reader++) this.release(reader)
  }

  #admit(reader: Reader): number {
    const number = this.#readers.indexOf(undefined)
    assert(number >= 0, `no more than ${MAX_READERS} threads read at the same time`)
    this.#readers[number] = reader
    for (const { id, name, writer } of this.#arenas.values())
      for (const [index, { buffer }] of writer.table.entries()) reader.send({ arena: id, name, index, buffer })
    this.clock.nextEpoch()
    return number
  }

  #send(message: SegmentMessage): void {
    for (const reader of this.#readers) reader?.send(message)
    this.clock.nextEpoch()
  }
}
