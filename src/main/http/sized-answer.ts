/**
 * Thread: main. Writes a body of known size in pieces, no faster than the client takes them, taking turns with other
 * large answers.
 */
import type { BulkTurns } from './bulk-turns.js'
import type { ResponsePort } from './response-port.js'
import type { AnswerState } from './response-stream.js'
import type { SlowAnswers, WaitingAnswer } from './slow-answers.js'

export interface SizedAnswerOptions {
  readonly port: ResponsePort
  readonly state: AnswerState
  readonly totalBytes: number
  /**
   * The bytes that this thread keeps in memory for the answer until its end, beside the piece that is being written.
   */
  readonly heldBytes: number
  /** Bounds the memory of answers to slow clients. */
  readonly slowAnswers: SlowAnswers | undefined
  /**
   * Gives the next piece, whose memory the caller may reuse once it is asked for the following one. Undefined says that
   * the rest cannot be had; then the connection is closed.
   */
  readonly next: () => Uint8Array | undefined
  /** Called once, when no further piece will be asked for. */
  readonly done: () => void
  /** The turns that large answers take; undefined for an answer that is written as fast as its client takes it. */
  readonly turns: BulkTurns | undefined
  readonly show: ((piece: Uint8Array) => void) | undefined
}

export class SizedAnswer implements WaitingAnswer {
  readonly #options: SizedAnswerOptions
  #finished = false
  /** The part of a piece that the socket did not take, which begins at `#restOffset` of the body. */
  #rest: Uint8Array | undefined
  #restOffset = 0
  /** True while a job is queued or writes, so that no second one is added. */
  #more = false
  #lost = false
  /** True once the answer has had to wait for its client, and so stands in `slowAnswers`. */
  #waited = false
  readonly #corked = (): void => {
    do this.#more = this.#slice()
    while (this.#more && this.#options.turns === undefined)
  }
  readonly #job = (): boolean => {
    if (this.#finished) return false
    let isWritten = false
    this.#options.state.attempt(() => {
      this.#write()
      isWritten = true
    })
    return isWritten && this.#more
  }
  readonly #write = (): void => {
    this.#options.port.cork(this.#corked)
    // The connection is closed outside the cork, which would go on writing.
    if (this.#lost) this.breakOff()
  }

  constructor(options: SizedAnswerOptions) {
    this.#options = options
  }

  start(writeHead: () => void): void {
    const { port, state } = this.#options
    port.onWritable((offset) => {
      let isAll = true
      state.attempt(() => {
        isAll = this.#writable(offset)
      })
      return isAll
    })
    port.cork(() => {
      writeHead()
      if (this.#slice()) this.#goOn()
    })
    // The connection is closed outside the cork, which would go on writing.
    if (this.#lost) this.breakOff()
  }

  get heldBytes(): number {
    return this.#options.heldBytes
  }

  takenBytes(): number {
    return this.#options.port.getWriteOffset()
  }

  breakOff(): void {
    const { state, port } = this.#options
    if (!this.#finished) state.attempt(() => port.close())
  }

  /** Ends the answer, whether it is complete or the client is gone. */
  finish(): void {
    if (this.#finished) return
    this.#finished = true
    if (this.#waited) this.#options.slowAnswers?.delete(this)
    this.#options.done()
  }

  /** Writes one piece; true when the next one can follow at once. */
  #slice(): boolean {
    if (this.#finished) return false
    const { port, next, show, state, totalBytes } = this.#options
    const piece = this.#rest ?? next()
    if (piece === undefined) {
      this.#lost = true
      return false
    }
    if (this.#rest === undefined) show?.(piece)
    const offset = port.getWriteOffset()
    const [ok, ended] = port.tryEnd(piece, totalBytes)
    // The port may have noticed that the client is gone.
    if (this.#isOver()) return false
    this.#rest = ok || ended ? undefined : piece
    this.#restOffset = offset
    if (!ended) {
      if (!ok) this.#wait()
      return ok
    }
    this.finish()
    state.ended()
    return false
  }

  #isOver(): boolean {
    return this.#finished
  }

  #wait(): void {
    if (this.#waited || this.heldBytes === 0) return
    this.#waited = true
    this.#options.slowAnswers?.add(this)
  }

  #goOn(): void {
    // Bytes that a cork held back may fail to be sent after their slice; onWritable then comes while a job is there
    // already.
    if (this.#more) return
    this.#more = true
    const { turns } = this.#options
    if (turns === undefined) this.#job()
    else turns.add(this.#job)
  }

  #writable(offset: number): boolean {
    if (this.#finished) return true
    if (this.#rest !== undefined) this.#rest = this.#rest.subarray(offset - this.#restOffset)
    if (this.#rest?.byteLength === 0) this.#rest = undefined
    this.#goOn()
    return this.#rest === undefined
  }
}
