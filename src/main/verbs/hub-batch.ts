/**
 * Thread: main. Events that come together go out together: an audience's frames are joined once, and each of its
 * watchers is written to once. A write to a TLS connection costs some ten microseconds however little it carries, so at
 * a thousand watchers this is what decides how many events come out. While the thread writes, further events gather for
 * the next batch: the busier it is, the more goes with one write.
 */

import { HubFrames } from './hub-frames.js'
import type { Audience } from './hub-members.js'
import type { WatchSeries } from './read-metrics.js'

/** The most bytes of a batch, and so the most that waits for a watcher that does not read when that is noticed. */
const MAX_BYTES = 256 * 1024
const MAX_EVENTS = 256

interface Shown {
  readonly frames: Uint8Array[]
  readonly revisions: number[]
}

export class HubBatch {
  readonly #shown = new Map<Audience, Shown>()
  #bytes = 0
  #events = 0

  get full(): boolean {
    return this.#bytes >= MAX_BYTES || this.#events >= MAX_EVENTS
  }

  /** Counts an event, whether anybody is shown it or not. */
  begin(): void {
    this.#events++
  }

  add(audience: Audience, frame: Uint8Array, revision: number): void {
    const shown = this.#shown.get(audience)
    this.#bytes += frame.byteLength
    if (shown === undefined) this.#shown.set(audience, { frames: [frame], revisions: [revision] })
    else {
      shown.frames.push(frame)
      shown.revisions.push(revision)
    }
  }

  /**
   * Delivers to the watchers that are in the hub now; a watcher that joined since has seen the events, and is skipped
   * by its revision.
   */
  deliver(series: WatchSeries): void {
    for (const [{ watchers }, { frames, revisions }] of this.#shown) {
      const all = new HubFrames(frames, revisions.at(-1)!)
      let times = 0
      for (const watcher of watchers) {
        const { seenRevision } = watcher
        if (seenRevision < revisions[0]!) {
          watcher.deliver(all)
          times++
          continue
        }
        const first = revisions.findIndex((revision) => revision > seenRevision)
        if (first < 0) continue
        const rest = frames.slice(first)
        watcher.deliver(new HubFrames(rest, all.revision))
        for (const { byteLength } of rest) series.sent(byteLength, 1)
      }
      if (times > 0) for (const { byteLength } of frames) series.sent(byteLength, times)
    }
  }
}
