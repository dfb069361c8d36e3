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

/** The longest delay of setTimeout (24.8 days): a longer one would fire at once, so it is waited for in parts. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    let handle: NodeJS.Timeout
    const arm = (leftMs: number): void => {
      const isLast = leftMs <= MAX_TIMEOUT_MS
      handle = setTimeout(isLast ? callback : () => arm(leftMs - MAX_TIMEOUT_MS), Math.min(leftMs, MAX_TIMEOUT_MS))
      handle.unref()
    }
    arm(delayMs)
    return { cancel: () => clearTimeout(handle) }
  },
}

/** Resolves after a delay, however long. */
export const pause = (clock: Clock, delayMs: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(delayMs, resolve)
  })
