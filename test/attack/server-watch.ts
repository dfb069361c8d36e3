/** Looks at the server while it is attacked: memory, open files, how long its threads were busy without a break. */
import type { AttackedServer } from './attacked-server.js'

export interface ServerFigures {
  /** Medians of resident memory: between the first and the last third, and in the last. */
  readonly warmMiB: number
  readonly lastMiB: number
  readonly mostMiB: number
  readonly mostFiles: number
  /** The 99th percentile of the delay of each thread's event loop, its highest value. */
  readonly loopDelayMs: ReadonlyMap<string, number>
}

const MEMORY_MS = 500
const METRICS_MS = 5000

export class ServerWatch {
  readonly #server: AttackedServer
  readonly #memory: number[] = []
  readonly #delays = new Map<string, number>()
  #mostFiles = 0
  #timers: NodeJS.Timeout[] = []

  constructor(server: AttackedServer) {
    this.#server = server
  }

  start(): void {
    this.#timers = [
      setInterval(() => this.#look(), MEMORY_MS),
      setInterval(() => void this.#scrape().catch(() => undefined), METRICS_MS),
    ]
  }

  stop(): ServerFigures {
    for (const timer of this.#timers) clearInterval(timer)
    const third = Math.floor(this.#memory.length / 3)
    return {
      warmMiB: median(this.#memory.slice(third, 2 * third)),
      lastMiB: median(this.#memory.slice(2 * third)),
      mostMiB: Math.max(...this.#memory),
      mostFiles: this.#mostFiles,
      loopDelayMs: this.#delays,
    }
  }

  #look(): void {
    if (this.#server.ended !== undefined) return
    this.#memory.push(this.#server.residentMiB)
    this.#mostFiles = Math.max(this.#mostFiles, this.#server.openFiles)
  }

  async #scrape(): Promise<void> {
    const { text } = await this.#server.admin('GET', '/metrics')
    for (const [, thread = '', seconds] of text.matchAll(
      /^keelson_event_loop_delay_seconds\{thread="([^"]+)",quantile="0.99"\} (\S+)/gm,
    ))
      this.#delays.set(thread, Math.max(this.#delays.get(thread) ?? 0, Number(seconds) * 1000))
  }
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0
