/**
 * Thread: any but the owner. The view of one resource over a CacheClient.
 *
 *   unknown (the first cluster stands in) ──the owner's notice names the cluster──▶ bound, for good
 *
 * A view may be asked for before the owner has told this thread of its resource (a definition that has just come). So
 * the view looks for its cluster at each call, and listeners of the stand-in's clock are moved to the right clock by
 * bind().
 */
import type { Fence } from '../clock/fence.js'
import type { ArenaReader, ClockPace, ClockView } from '../memory/shared-memory.js'
import type { ResourceView } from './resource-view.js'

/** What a view needs of one storage cluster. */
export interface ViewCluster {
  readonly clock: ClockView
  readonly fence: Fence
}

export interface ClientViewOptions {
  /** The cluster of the resource; undefined while this thread does not know it. */
  readonly cluster: () => ViewCluster | undefined
  /**
   * The cluster whose clock and fence are used until the resource's own is known. Nothing of the resource can be in
   * memory before that.
   */
  readonly standIn: () => ViewCluster
  readonly arena: () => ArenaReader | undefined
  readonly known: () => ArenaReader | undefined
  readonly fallen: () => boolean
}

interface EarlyListener {
  readonly listener: (revision: number) => void
  readonly pace: ClockPace
  stop: () => void
}

export class ClientView implements ResourceView {
  readonly #options: ClientViewOptions
  readonly #earlyListeners = new Set<EarlyListener>()
  readonly #earlyClock: ClockView
  #bound: ViewCluster | undefined

  constructor(options: ClientViewOptions) {
    this.#options = options
    this.#earlyClock = {
      revision: () => this.#cluster().clock.revision(),
      reached: (revision, signal) => this.#cluster().clock.reached(revision, signal),
      onAdvance: (listener, pace) => this.#listenEarly(listener, pace),
    }
  }

  get clock(): ClockView {
    return this.#find()?.clock ?? this.#earlyClock
  }

  get fence(): Fence {
    return this.#cluster().fence
  }

  arena(): ArenaReader | undefined {
    return this.#options.arena()
  }

  known(): ArenaReader | undefined {
    return this.#options.known()
  }

  fallen(): boolean {
    return this.#options.fallen()
  }

  /**
   * The owner has told this thread of the resource: those who listened to the stand-in's clock listen to the right one
   * now.
   */
  bind(): void {
    if (this.#find() === undefined) return
    for (const early of this.#earlyListeners) {
      early.stop()
      early.stop = this.#cluster().clock.onAdvance(early.listener, early.pace)
    }
  }

  #find(): ViewCluster | undefined {
    this.#bound ??= this.#options.cluster()
    return this.#bound
  }

  #cluster(): ViewCluster {
    return this.#find() ?? this.#options.standIn()
  }

  #listenEarly(listener: (revision: number) => void, pace: ClockPace = 'prompt'): () => void {
    const early: EarlyListener = { listener, pace, stop: this.#cluster().clock.onAdvance(listener, pace) }
    this.#earlyListeners.add(early)
    return () => {
      this.#earlyListeners.delete(early)
      early.stop()
    }
  }
}
