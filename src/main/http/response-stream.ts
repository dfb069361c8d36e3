/**
 * Thread: main. An answer without known end, such as a watch: frames are written no faster than the client takes them.
 */
import type { ResponsePort } from './response-port.js'

/**
 * A stream of frames. The writes return false when the client does not keep up; the writer should then wait for
 * onDrain.
 */
export interface ResponseStream {
  /** True when each write is a message of its own (a WebSocket), so that frames must not be joined into one write. */
  readonly separate: boolean
  write(chunk: Uint8Array): boolean
  /** Writes several frames with few system calls; returns what write() would say of the last one. */
  writeAll(chunks: readonly Uint8Array[]): boolean
  /** Says that there is nothing to write for now, so that at least the head is sent. */
  idle(): void
  onDrain(listener: () => void): void
  /** Starts the time anew after which a client that takes nothing is given up. */
  touch(): void
  end(): void
}

/** What an answer that is written piece by piece asks and tells its exchange. */
export interface AnswerState {
  /** True while the answer has not been ended and the client is there. */
  answering(): boolean
  /** Runs a callback of an engine or timer. An exception in it ends the exchange and nothing else. */
  attempt(callback: () => void): void
  sent(bytes: number): void
  ended(): void
}

/** Bytes that can be written although there is no frame to write, to get the head on its way. */
export interface StreamFiller {
  readonly bytes: Uint8Array
  /**
   * `between` means that the bytes may stand between two frames without meaning anything, as a space does in JSON.
   * `ahead` means that every frame begins with these bytes, as a protobuf frame does with the highest byte of its
   * length: they are sent ahead, and the next frame is sent without them. `before` means that the bytes may stand before
   * the first frame only.
   */
  readonly place: 'between' | 'ahead' | 'before'
}

/**
 * The most bytes that are given to one cork. A cork of uWebSockets.js holds 16 KiB. When they cannot be sent and the
 * next write does not fit any more, that write is lost, while the head of its chunk is not (true of every version up to
 * 20.74, see AsyncSocket::uncork there). So no cork is given more than fits, the heads of the chunks included; a larger
 * frame goes in pieces, each in a cork of its own. (Writing it without a cork loses nothing either, but uWebSockets.js
 * prints a warning each time.)
 */
const CORK_BYTES = 15 * 1024
const CHUNK_HEAD_BYTES = 12
const PIECE_BYTES = CORK_BYTES - CHUNK_HEAD_BYTES

/**
 * A stream over HTTP. uWebSockets.js sends the head only with the first bytes of the body, and bytes that
 * write() left in its buffer need another write to get on their way (ResponsePort.needsNudge). A filler gets the head
 * on its way, and a filler of the kind `between` also the bytes that were left. Without a filler the head waits for the
 * first frame. Engines that need no filler get none.
 *
 * A stream that ends after a filler was sent ahead ends within a frame. Kubernetes' clients take that for the end of
 * the connection, which it is.
 */
export class ChunkedStream implements ResponseStream {
  readonly separate = false
  readonly #port: ResponsePort
  readonly #answer: AnswerState
  readonly #filler: StreamFiller | undefined
  /** True when the first bytes of the next frame were sent ahead, as a filler. */
  #ahead = false
  #onDrain: (() => void) | undefined
  #headOut = false
  #blocked = false
  #broken = false

  constructor(port: ResponsePort, answer: AnswerState, filler: StreamFiller | undefined) {
    this.#port = port
    this.#answer = answer
    this.#filler = filler
    port.onWritable(() => {
      answer.attempt(() => this.#writable())
      return true
    })
  }

  #writable(): void {
    if (!this.#answer.answering()) return
    // Drained is also reported when no write() returned false, because corked bytes fail to be sent only after write()
    // has returned. Leaving the cork flushes what is left.
    this.#blocked = false
    this.#port.cork(() => {
      if (this.#port.needsNudge && this.#filler?.place === 'between') this.#write(this.#filler.bytes)
    })
    if (!this.#blocked) this.#onDrain?.()
  }

  write(chunk: Uint8Array): boolean {
    return chunk.byteLength > PIECE_BYTES ? this.#writePieces(chunk) : this.#writeCorked([chunk])
  }

  writeAll(chunks: readonly Uint8Array[]): boolean {
    let writable = true
    let corked: Uint8Array[] = []
    let bytes = 0
    for (const chunk of chunks) {
      const needed = chunk.byteLength + CHUNK_HEAD_BYTES
      if (bytes + needed > CORK_BYTES) {
        writable = this.#writeCorked(corked)
        corked = []
        bytes = 0
      }
      if (needed > CORK_BYTES) writable = this.#writePieces(chunk)
      else {
        corked.push(chunk)
        bytes += needed
      }
    }
    return corked.length === 0 ? writable : this.#writeCorked(corked)
  }

  #writeCorked(chunks: readonly Uint8Array[]): boolean {
    if (!this.#answer.answering()) return false
    let writable = true
    if (chunks.length > 0)
      this.#port.cork(() => {
        for (const chunk of chunks) writable = this.#writeFrame(chunk)
      })
    return writable
  }

  /** Writes a frame that one cork cannot hold, in several chunks. Readers of the body do not see where a chunk ends. */
  #writePieces(frame: Uint8Array): boolean {
    let writable = this.#writeCorked([frame.subarray(0, PIECE_BYTES)])
    for (let at = PIECE_BYTES; at < frame.byteLength && !this.#broken; at += PIECE_BYTES)
      writable = this.#writeCorked([frame.subarray(at, at + PIECE_BYTES)])
    return writable
  }

  #writeFrame(chunk: Uint8Array): boolean {
    if (!this.#answer.answering() || this.#broken) return false
    if (!this.#ahead) return this.#write(chunk)
    const begun = this.#filler!.bytes
    if (Buffer.compare(chunk.subarray(0, begun.byteLength), begun) !== 0) return this.#break()
    this.#ahead = false
    return this.#write(chunk.subarray(begun.byteLength))
  }

  #write(chunk: Uint8Array): boolean {
    this.#headOut = true
    this.#answer.sent(chunk.byteLength)
    this.#blocked = !this.#port.write(chunk)
    return !this.#blocked
  }

  /**
   * Closes the connection, because the frame does not begin with the bytes that were sent ahead (a protobuf frame of 16
   * MiB or more). It is closed in a later turn, because code within the cork would go on writing.
   */
  #break(): false {
    this.#broken = true
    setImmediate(() =>
      this.#answer.attempt(() => {
        if (this.#answer.answering()) this.#port.close()
      }),
    )
    return false
  }

  idle(): void {
    if (this.#headOut || !this.#answer.answering()) return
    this.#headOut = this.#port.flushHead()
    const filler = this.#filler
    if (this.#headOut || filler === undefined) return
    this.#port.cork(() => this.#write(filler.bytes))
    this.#ahead = filler.place === 'ahead'
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  touch(): void {
    if (this.#answer.answering()) this.#port.touch()
  }

  end(): void {
    if (!this.#answer.answering()) return
    this.#port.cork(() => this.#port.end())
    this.#answer.ended()
  }
}
