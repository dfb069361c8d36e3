/** How far a run is: a bar over its stages on a terminal, a line for each step elsewhere. */
const WIDTH = 24

export class Progress {
  readonly #stages: number
  readonly #out: NodeJS.WriteStream
  readonly #started = performance.now()
  #done = -1

  constructor(stages: number, out: NodeJS.WriteStream = process.stderr) {
    this.#stages = stages
    this.#out = out
  }

  /** A stage begins; the one before it is done. */
  stage(what: string): void {
    this.#done = Math.min(this.#stages, this.#done + 1)
    this.step(what)
  }

  step(what: string): void {
    const seconds = Math.round((performance.now() - this.#started) / 1000)
    if (!this.#out.isTTY) {
      this.#out.write(`[${this.#done + 1}/${this.#stages}] ${seconds} s  ${what}\n`)
      return
    }
    const part = this.#done / this.#stages
    const full = Math.round(part * WIDTH)
    const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full)
    this.#out.write(`\r\u001b[2K${bar} ${String(Math.round(part * 100)).padStart(3)} %  ${seconds} s  ${what}`)
  }

  /** What the reader should keep, such as what failed. */
  say(what: string): void {
    this.#out.write(`${this.#out.isTTY ? '\r\u001b[2K' : ''}${what}\n`)
  }

  /** The line is free for others. */
  end(): void {
    if (this.#out.isTTY) this.#out.write('\r\u001b[2K')
  }
}
