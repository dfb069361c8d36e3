/** Thread: main. The timer of a watch's bookmarks. The read engine (BookmarkSchedule) decides when they are due. */
import { BookmarkSchedule } from '../../cacher/read/bookmark-schedule.js'
import type { Clock, Timer } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'

/** A watch that is shorter than this needs no bookmark before its end. */
const WORTH_MS = 2_000

export interface WatchBookmarksOptions {
  readonly clock: Clock
  readonly random: Random
  /** The watch ends after this time. */
  readonly timeoutMs: number
  readonly send: () => void
}

export class WatchBookmarks {
  readonly #options: WatchBookmarksOptions
  #timer: Timer | undefined

  constructor(options: WatchBookmarksOptions) {
    this.#options = options
  }

  start(): void {
    const { clock, random, timeoutMs } = this.#options
    const deadline = timeoutMs > WORTH_MS ? clock.now() + timeoutMs : undefined
    this.#next(new BookmarkSchedule({ clock, random, deadline }))
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #next(schedule: BookmarkSchedule): void {
    this.#timer = this.#options.clock.after(schedule.dueIn(), () => {
      // The timer may have fired a little early.
      if (schedule.dueIn() === 0) {
        this.#options.send()
        schedule.sent()
      }
      this.#next(schedule)
    })
  }
}
