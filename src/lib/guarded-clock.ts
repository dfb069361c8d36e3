/** Thread: any. A clock whose timers end in a report when they fail, and not in the end of their thread. */
import type { Clock } from './clock.js'

export const guardedClock = (clock: Clock, onFailure: (error: unknown) => void): Clock => ({
  now: () => clock.now(),
  monotonicMs: () => clock.monotonicMs(),
  after: (delayMs, callback) =>
    clock.after(delayMs, () => {
      try {
        callback()
      } catch (error) {
        onFailure(error)
      }
    }),
})
