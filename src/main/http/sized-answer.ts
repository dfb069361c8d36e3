/** Thread: main. A body of known size in pieces, no faster than the client takes them, and in turns with other large ones. */
import type { BulkTurns } from './bulk-turns.js'
import type { ResponsePort } from './response-port.js'
import type { AnswerState } from './response-stream.js'

export interface SizedAnswerOptions {
  readonly port: ResponsePort
  readonly state: AnswerState
  readonly totalBytes: number
  /** A piece may be reused as soon as the following one is asked for. Undefined: the rest cannot be had, and the connection ends. */
  readonly next: () => Uint8Array | undefined
  /** Called once: no piece is asked for any more. */
  readonly done: () => void
  /** Undefined: it need not wait for others. */
  readonly turns: BulkTurns | undefined
  readonly show: ((piece: Uint8Array) => void) | undefined
}

export class SizedAnswer {
  readonly #options: SizedAnswerOptions
  #finished = false
  /** Of a piece that the socket did not take whole, from `#restOffset` of the body on. */
  #rest: Uint8Array | undefined
  #restOffset = 0
  /** There is a job, or a piece was taken whole. */
  #more = false
  #lost = false
  readonly #corked = (): void => {
    do this.#more = this.#slice()
    while (this.#more && this.#options.turns === undefined)
  }
  readonly #job = (): boolean => {
    if (this.#finished) return false
    this.#options.port.cork(this.#corked)
    if (this.#lost) this.#breakOff()
    return this.#more
  }

  constructor(options: SizedAnswerOptions) {
    this.#options = options
  }

  start(writeHead: () => void): void {
    const { port } = this.#options
    port.onWritable((offset) => this.#writable(offset))
    port.cork(() => {
      writeHead()
      if (this.#slice()) this.#goOn()
    })
    if (this.#lost) this.#breakOff()
  }

  /** Also when the client is gone. */
  finish(): void {
    if (this.#finished) return
    this.#finished = true
    this.#options.done()
  }

  /** One piece; true: the next one can follow. */
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
    this.#rest = ok || ended ? undefined : piece
    this.#restOffset = offset
    if (!ended) return ok
    this.finish()
    state.ended()
    return false
  }

  /** Not within a cork, which would write on. */
  #breakOff(): void {
    if (!this.#finished) this.#options.port.close()
  }

  #goOn(): void {
    // What a cork held back may fail after its slice: then there is a job already.
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
