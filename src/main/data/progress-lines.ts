/** Thread: main. How far a long piece of work is, a line every few seconds: short work says nothing. */
const INTERVAL_MS = 2_000

export interface Progress {
  readonly what: string
  readonly done: number
  readonly total: number
}

export class ProgressLines {
  readonly #write: (text: string) => void
  readonly #now: () => number
  #startedMs = 0
  #toldMs = Number.NaN
  #what = ''

  constructor(write: (text: string) => void, now: () => number = () => performance.now()) {
    this.#write = write
    this.#now = now
  }

  tell({ what, done, total }: Progress): void {
    const nowMs = this.#now()
    if (what !== this.#what) {
      this.#what = what
      this.#startedMs = nowMs
    }
    // The first word of it only starts the clock.
    if (Number.isNaN(this.#toldMs)) this.#toldMs = nowMs
    if (nowMs - this.#toldMs < INTERVAL_MS || total === 0) return
    this.#toldMs = nowMs
    const leftSeconds = done === 0 ? undefined : Math.ceil(((nowMs - this.#startedMs) / 1000) * (total / done - 1))
    const left = leftSeconds === undefined ? '' : `, about ${leftSeconds} s to go`
    this.#write(`${what}: ${done} of ${total} (${Math.floor((done / total) * 100)} %)${left}\n`)
  }
}
