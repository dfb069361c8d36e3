/**
 * Thread: any. The caller of a task, who waits for its result. It is no AbortSignal: a signal for each request, aborted
 * at its end, took a seventh of what a write costs the front end.
 */
export interface Caller {
  /** True when nobody waits for the result any longer. */
  readonly gone: boolean
  /** When the request came, by the monotonic clock of this thread; undefined for a caller in another one. */
  readonly startedMs?: number
  /** Calls back once when nobody waits any longer; at once when that is so already. */
  onGone(listener: () => void): void
}

/** A caller in another thread, who leaves when a message says so. */
export class RemoteCaller implements Caller {
  #gone = false
  #listeners: (() => void)[] = []

  get gone(): boolean {
    return this.#gone
  }

  onGone(listener: () => void): void {
    if (this.#gone) listener()
    else this.#listeners.push(listener)
  }

  leave(): void {
    if (this.#gone) return
    this.#gone = true
    for (const listener of this.#listeners.splice(0)) listener()
  }
}
