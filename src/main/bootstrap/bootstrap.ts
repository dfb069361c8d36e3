/**
 * Thread: main. What is there from the start, and stays there: tasks that run side by side where they can, before the
 * server is ready, and some of them again from time to time.
 *
 *   new ──start()──▶ running: each task after those it names ──▶ looping ──close()──▶ stopped
 */
import type { Clock, Timer } from '../../lib/clock.js'
import { backoff, jitter, type Random } from '../../lib/jitter.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'

export interface BootstrapTask {
  readonly name: string
  /** Names of tasks that must be done before. */
  readonly after?: readonly string[]
  /** The task runs again so long after it has ended. */
  readonly everyMs?: number
  run(): Promise<void>
  /** Called when the server stops. */
  stop?(): Promise<void>
}

export interface BootstrapOptions {
  readonly tasks: readonly BootstrapTask[]
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

const MAX_ATTEMPTS = 6
const RETRY_MS = 50
const MAX_RETRY_MS = 1_000

export class Bootstrap implements Closable {
  readonly #options: BootstrapOptions
  readonly #timers = new Map<string, Timer>()
  readonly #running = new Set<Promise<void>>()
  #closed = false

  constructor(options: BootstrapOptions) {
    this.#options = options
  }

  /** A task that fails again and again is logged, and the server serves without what the task would have made. */
  async start(): Promise<void> {
    const done = new Map<string, Promise<void>>()
    for (const task of this.#options.tasks) {
      const before = (task.after ?? []).map((name) => done.get(name))
      done.set(task.name, this.#track(this.#first(task, before)))
    }
    await Promise.all(done.values())
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const timer of this.#timers.values()) timer.cancel()
    await Promise.all(this.#running)
    for (const { name, stop } of this.#options.tasks) {
      try {
        await stop?.()
      } catch (error) {
        this.#options.logger.warn({ err: error, task: name }, 'a task could not be ended in order')
      }
    }
  }

  async #first(task: BootstrapTask, before: readonly (Promise<void> | undefined)[]): Promise<void> {
    await Promise.all(before)
    for (let attempt = 1; !this.#closed; attempt++) {
      try {
        await task.run()
        break
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) {
          this.#options.logger.error({ err: error, task: task.name }, 'what should be there from the start is not')
          break
        }
        await this.#pause(attempt)
      }
    }
    this.#again(task)
  }

  #pause(attempt: number): Promise<void> {
    const { clock, random } = this.#options
    return new Promise((resolve) => {
      clock.after(backoff(attempt, RETRY_MS, MAX_RETRY_MS, random), resolve)
    })
  }

  #again(task: BootstrapTask): void {
    const { clock, random, logger } = this.#options
    if (task.everyMs === undefined || this.#closed) return
    const timer = clock.after(jitter(task.everyMs, 0.1, random), () => {
      void this.#track(
        task
          .run()
          .catch((error: unknown) => logger.warn({ err: error, task: task.name }, 'a task of the server failed'))
          .then(() => this.#again(task)),
      )
    })
    this.#timers.set(task.name, timer)
  }

  /** Remembers a run, so that close() waits for it: a task is stopped after it ran, never beside. */
  #track(run: Promise<void>): Promise<void> {
    const tracked = run.finally(() => this.#running.delete(tracked))
    this.#running.add(tracked)
    return tracked
  }
}
