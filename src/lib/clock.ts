/** Thread: any. Time as a dependency, so that tests can hold it. */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Wall time in milliseconds since the epoch. */
  now(): number
  /** Time that never goes back, for durations and deadlines. */
  monotonicMs(): number
  /** Calls back once; a pending timer never keeps the process alive. */
  after(delayMs: number, callback: () => void): Timer
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const handle = setTimeout(callback, delayMs)
    handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
}
