/** How far a run is: a bar on a terminal, a line for each step elsewhere. */
const WIDTH = 24

export class Progress {
  readonly #steps: number
  readonly #out: NodeJS.WriteStream
  readonly #started = performance.now()
  #done = 0

  constructor(steps: number, out: NodeJS.WriteStream = process.stderr) {
    this.#steps = steps
    this.#out = out
  }

  /** Says what comes now; what came before is done. */
  step(what: string): void {
    const part = this.#done / this.#steps
    this.#done = Math.min(this.#steps, this.#done + 1)
    const seconds = Math.round((performance.now() - this.#started) / 1000)
    if (!this.#out.isTTY) {
      this.#out.write(`[${this.#done}/${this.#steps}] ${seconds} s  ${what}\n`)
      return
    }
    const full = Math.round(part * WIDTH)
    const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full)
    this.#out.write(`\r\u001b[2K${bar} ${String(Math.round(part * 100)).padStart(3)} %  ${seconds} s  ${what}`)
  }

  /** The line is free for others. */
  end(): void {
    if (this.#out.isTTY) this.#out.write('\r\u001b[2K')
  }
}
