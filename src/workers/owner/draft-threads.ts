/**
 * Thread: owner. The threads that decode objects beside the owner while it lists a large resource: that is two thirds of what a start on
 * many objects costs (docs/adr/0037-memory.md). They are started for the first such page and ended when no page has come for a while,
 * because a thread that waits costs as much memory as one that works.
 *
 *   none ──first page──▶ starting ──ready──▶ working ──nothing for IDLE_MS, or one of them fails──▶ none
 *
 * The owner decodes too, whenever no thread has room: so it never waits for one that is not there yet.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { DraftMakers } from '../../cacher/feed/resource-registration.js'
import { type Clock, systemClock, type Timer } from '../../lib/clock.js'
import { Deferred } from '../../lib/deferred.js'
import type { Logger } from '../../lib/logger.js'
import {
  type DraftAnswer,
  type DraftPage,
  type DraftThreadData,
  packBytes,
  unpackDrafts,
} from '../../protocol/owner-drafts.js'
import type { RecordDraft } from '../../protocol/record-draft.js'

/** One page is decoded while the next one lies ready. */
const PAGES_A_THREAD = 2
/** More threads than this and the owner, which reads the pages and writes the arena, is what takes the time. */
const MAX_THREADS = 3
const IDLE_MS = 1_000

export interface DraftThreadsOptions {
  /** The URL of the threads' entry. */
  readonly module: string
  readonly options: unknown
  readonly logger: Logger
  readonly clock?: Clock
  readonly threads?: number
}

type Drafts = readonly (RecordDraft | undefined)[]

interface Thread {
  readonly worker: Worker
  /** The pages that it has not answered, in order. */
  readonly pages: Deferred<Drafts | undefined>[]
  isReady: boolean
}

export class DraftThreads {
  readonly #options: DraftThreadsOptions
  readonly #clock: Clock
  readonly #count: number
  #threads: Thread[] = []
  #idle: Timer | undefined
  #failed = false

  constructor(options: DraftThreadsOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#count = options.threads ?? Math.min(MAX_THREADS, availableParallelism() - 1)
  }

  /** The makers for one resource, which must be built in: the threads know of no definitions. */
  makers(resource: string): DraftMakers {
    return {
      hasRoom: () => this.#free() !== undefined,
      drafts: (values) => this.#drafts({ resource, values: packBytes(values) }),
    }
  }

  get running(): number {
    return this.#threads.length
  }

  async close(): Promise<void> {
    this.#idle?.cancel()
    const threads = this.#threads.splice(0)
    // The owner decodes these pages itself.
    for (const { pages } of threads) for (const page of pages.splice(0)) page.resolve(undefined)
    await Promise.all(threads.map(({ worker }) => worker.terminate()))
  }

  #free(): Thread | undefined {
    if (this.#failed) return undefined
    if (this.#threads.length === 0) for (let i = 0; i < this.#count; i++) this.#threads.push(this.#start())
    this.#endWhenIdle()
    let free: Thread | undefined
    for (const thread of this.#threads)
      if (thread.isReady && thread.pages.length < (free?.pages.length ?? PAGES_A_THREAD)) free = thread
    return free
  }

  #drafts(page: DraftPage): Promise<Drafts | undefined> {
    const thread = this.#free()
    if (thread === undefined) return Promise.resolve(undefined)
    const drafts = new Deferred<Drafts | undefined>()
    thread.pages.push(drafts)
    thread.worker.ref()
    thread.worker.postMessage(page, [page.values.bytes.buffer, page.values.ends.buffer])
    return drafts.promise
  }

  #start(): Thread {
    const { module, options } = this.#options
    const worker = new Worker(new URL(module), { workerData: { options } satisfies DraftThreadData, execArgv: [] })
    const thread: Thread = { worker, pages: [], isReady: false }
    worker.on('message', (answer: DraftAnswer) => {
      if (answer.type === 'ready') thread.isReady = true
      else thread.pages.shift()?.resolve(unpackDrafts(answer))
      if (thread.pages.length === 0) worker.unref()
    })
    worker.on('error', (error) => {
      // What one of them cannot do, the others cannot either: the owner goes on alone.
      this.#failed = true
      this.#options.logger.error({ err: error }, 'a thread that decodes objects failed; the owner decodes them itself')
      void this.close()
    })
    worker.unref()
    return thread
  }

  #endWhenIdle(): void {
    this.#idle?.cancel()
    this.#idle = this.#clock.after(IDLE_MS, () => {
      if (this.#threads.some(({ pages }) => pages.length > 0)) this.#endWhenIdle()
      else void this.close()
    })
  }
}
